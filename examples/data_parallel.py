# SPDX-License-Identifier: BSD-3-Clause
"""A neural network trained by several ranks, with the gradients of several layers in flight.

    trefoil run -n 6 -- python3 data_parallel.py [WIDTH [STEPS]]     default 64 40
    mpirun -n 6 python3 data_parallel.py                             likewise

Every rank has the whole network and its own share of each batch. The gradient of a layer is known before that of the layer
below it; its average over the ranks begins at once, and is waited for when the gradients of all layers are under way. The
network is trained so and with blocking calls: both must give the same bits, on all ranks, and the loss must have shrunk.
"""

import sys

import numpy as np

import trefoil

SAMPLES, INPUTS, OUTPUTS, LAYERS, RATE = 16, 8, 4, 5, 0.05


def network(width, seed):
    random = np.random.default_rng(seed)
    sizes = [INPUTS] + [width] * (LAYERS - 1) + [OUTPUTS]
    return [random.uniform(-1, 1, (a + 1, b)) / np.sqrt(a) for a, b in zip(sizes, sizes[1:])]


def with_bias(values):
    return np.hstack([values, np.ones((len(values), 1))])


def forward(net, samples):
    """What goes into each layer, and what comes out of the last one."""
    seen = [samples]
    for i, layer in enumerate(net):
        out = with_bias(seen[-1]) @ layer
        seen.append(np.tanh(out) if i + 1 < len(net) else out)
    return seen


def backward(net, seen, answers, gradients, ready):
    """Fills in the gradients, the last layer's first, and calls ready(layer) after each."""
    error = 2 / len(answers) * (seen[-1] - answers)
    for i in reversed(range(len(net))):
        gradients[i][:] = with_bias(seen[i]).T @ error
        ready(i)
        if i > 0:
            error = (error @ net[i][:-1].T) * (1 - seen[i] ** 2)


def train(comm, width, steps, in_flight):
    """The network and the losses of all steps."""
    net, teacher = network(width, 1), network(width, 2)
    gradients = [np.empty_like(layer) for layer in net]
    losses = []
    for step in range(steps):
        samples = np.random.default_rng([step, comm.rank]).uniform(-1, 1, (SAMPLES, INPUTS))
        answers = forward(teacher, samples)[-1]
        seen = forward(net, samples)
        requests = []

        def average(i):
            if in_flight:
                requests.append(comm.iallreduce(gradients[i], op=trefoil.AVG))
            else:
                comm.allreduce(gradients[i], op=trefoil.AVG)

        backward(net, seen, answers, gradients, average)
        trefoil.waitall(requests)
        for layer, gradient in zip(net, gradients):
            layer -= RATE * gradient
        loss = np.array([np.mean(np.sum((seen[-1] - answers) ** 2, axis=1))])
        losses.append(comm.allreduce(loss, op=trefoil.AVG)[0])
    return np.concatenate([layer.ravel() for layer in net]), losses


def main():
    width, steps = (int(text) for text in (sys.argv[1:] + ["64", "40"][len(sys.argv) - 1:])[:2])
    with trefoil.Comm() as comm:  # rank, number of ranks and torus: from the launcher
        net, losses = train(comm, width, steps, in_flight=True)
        blocking, _ = train(comm, width, steps, in_flight=False)
        others = comm.bcast(net.copy(), root=0)
        same = np.array([np.array_equal(net, blocking) and np.array_equal(net, others)])
        comm.allreduce(same, op=trefoil.LAND)
        right = same[0] and losses[-1] < losses[0] / 2
        if comm.rank == 0:
            print(f"{comm.size} ranks, {steps} steps: loss {losses[0]:.3f} to {losses[-1]:.3f}, "
                  f"{'the same bits everywhere: right' if right else 'WRONG'}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
