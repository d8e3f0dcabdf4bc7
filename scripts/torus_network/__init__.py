# SPDX-License-Identifier: BSD-3-Clause
"""A torus of network namespaces on one machine: used by scripts/torusnet, scripts/compare and tests/network."""
