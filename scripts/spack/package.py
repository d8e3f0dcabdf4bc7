# SPDX-License-Identifier: BSD-3-Clause
"""A Spack recipe for Trefoil: copy it to var/spack/repos/REPO/packages/trefoil/, and point it at a checkout with
`spack dev-build trefoil@main`. It was read and compiled by Python, and never run by Spack."""
from spack.package import *


class Trefoil(CMakePackage):
    """Collectives (allreduce, bcast, alltoall and others) for machines whose nodes have many network interfaces and are wired
    as a torus."""

    version("main", branch="main")

    variant("ofi", default=True, description="Ports over libfabric")
    variant("ucx", default=True, description="Ports over UCX")
    variant("tools", default=True, description="The command trefoil")
    variant("fortran", default=True, description="The module for Fortran")
    variant("openmpi", default=False, description="The component of Open MPI 4.1")
    variant("mpich", default=False, description="The layer to preload under MPICH")
    variant("mpi_abi", default=False, description="The layer to preload under an MPI with the standard ABI")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.1:")
    depends_on("libfabric@1.17:", when="+ofi")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("cli11", when="+tools", type="build")
    depends_on("fmt", when="+tools")
    depends_on("nlohmann-json", type="build")
    depends_on("openmpi@4.1", when="+openmpi")
    depends_on("mpich@4:", when="+mpich")

    conflicts("%gcc@:11", msg="C++20 as gcc 12 has it")
    generator("ninja")

    def cmake_args(self):
        by_variant = {"BUILD_TOOLS": "tools", "WITH_OFI": "ofi", "WITH_UCX": "ucx", "WITH_FORTRAN": "fortran",
                      "WITH_OPENMPI": "openmpi", "WITH_MPICH": "mpich", "WITH_MPI_ABI": "mpi_abi"}
        return [
            "-DTREFOIL_BUILD_TESTS=OFF",
            *(self.define_from_variant(f"TREFOIL_{option}", variant) for option, variant in by_variant.items()),
        ]
