"""Makes every kind of MPI call that a trace records, and prints how many point-to-point messages the ranks have sent each other."""

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
sent = 0

# A communicator of every second rank in reverse order, and one of all ranks.
half, other = world.Split(rank % 2, -rank), world.Dup()

# A root that answers ranks in the order of their messages, in a separate communicator: it must not match later messages of ranks that have
# their answer.
if rank == 0:
    for _ in range(size - 1):
        status = MPI.Status()
        number = np.zeros(1)
        other.Recv(number, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        other.Send(number, dest=status.source, tag=7)
        sent += 1
else:
    other.Send(np.ones(1), dest=0, tag=10 + rank)
    other.Recv(np.zeros(1), source=0, tag=7)
    sent += 1

# Persistent requests round a ring.
ring = [
    world.Send_init(np.ones(1000), (rank + 1) % size, 3),
    world.Recv_init(np.zeros(1000), (rank - 1) % size, 3),
]
for _ in range(5):
    MPI.Prequest.Startall(ring)
    MPI.Request.Waitall(ring)
    sent += 1
for request in ring:
    request.Free()

# From every rank to every other, completed one by one, some by a test.
others = [each for each in range(size) if each != rank]
receives = [other.Irecv(np.zeros(10), source=each, tag=9) for each in others]
sends = [other.Isend(np.ones(10), dest=each, tag=9) for each in others]
sent += len(others)
while MPI.Request.Waitany(receives) != MPI.UNDEFINED:
    pass
while not MPI.Request.Testall(sends):
    pass

# Cancelled receives of messages that are never sent, one of them without a check of its status, and one that is cancelled too late.
for source in (MPI.ANY_SOURCE, (rank - 1) % size):
    never = other.Irecv(np.zeros(1), source=source, tag=11)
    never.Cancel()
    status = MPI.Status()
    never.Wait(status)
    assert status.Is_cancelled()
never = other.Irecv(np.zeros(1), source=MPI.ANY_SOURCE, tag=11)
never.Cancel()
never.Wait()
late = other.Irecv(np.zeros(1), source=(rank - 1) % size, tag=12)
other.Send(np.ones(1), dest=(rank + 1) % size, tag=12)
# Messages do not overtake each other: once this one has arrived, the other has been received.
other.Sendrecv(np.ones(1), (rank + 1) % size, 13, np.zeros(1), (rank - 1) % size, 13)
late.Cancel()
status = MPI.Status()
late.Wait(status)
assert not status.Is_cancelled()
sent += 2

# A message of unknown size, one that is received by a matched probe, and one to MPI_PROC_NULL.
world.Send(np.ones(rank + 1), dest=(rank + 1) % size, tag=4) if rank % 2 == 0 else None
status = MPI.Status()
if rank % 2 == 1 or (rank == 0 and size % 2 == 1):
    world.Probe(MPI.ANY_SOURCE, 4, status)
    world.Recv(np.zeros(status.Get_count(MPI.DOUBLE)), source=status.source, tag=4)
sent += rank % 2 == 0
world.Sendrecv(np.ones(3), (rank + 1) % size, 5, np.zeros(3), (rank - 1) % size, 5)
sent += 1
message = world.Isend(np.ones(2), (rank + 1) % size, 6)
matched = world.Mprobe(MPI.ANY_SOURCE, 6)
matched.Recv(np.zeros(2))
message.Wait()
sent += 1
world.Send(np.ones(2), MPI.PROC_NULL)

# Collectives of all ranks and of some, with equal and different sizes, blocking and nonblocking.
ones, counts = np.ones(size), [each + 1 for each in range(size)]
half.Allreduce(MPI.IN_PLACE, np.ones(100))
other.Barrier()
world.Bcast(np.ones(5000), root=size - 1)
world.Allgather(np.ones(1), ones)
world.Allgatherv(np.ones(rank + 1), [np.zeros(sum(counts)), counts])
world.Alltoall(ones, np.zeros(size))
world.Alltoallv([np.ones(size * (rank + 1)), [rank + 1] * size], [np.zeros(sum(counts)), counts])
world.Gather(np.ones(2), np.zeros((size, 2)) if rank == 0 else None, root=0)
world.Gatherv(np.ones(rank + 1), [np.zeros(sum(counts)), counts] if rank == 0 else None, root=0)
world.Scatter(np.ones((size, 2)) if rank == 0 else None, np.zeros(2), root=0)
world.Scatterv([np.ones(sum(counts)), counts] if rank == 0 else None, np.zeros(rank + 1), root=0)
world.Reduce_scatter(np.ones(sum(counts)), np.zeros(rank + 1), counts)
world.Reduce_scatter_block(ones, np.zeros(1))
world.Scan(np.ones(3), np.zeros(3))
world.Exscan(np.ones(3), np.zeros(3))
later = [world.Iallreduce(np.ones(10), np.zeros(10)), world.Ibarrier(), world.Ialltoall(ones, np.zeros(size))]
MPI.Request.Waitall(later)
half.Free()
other.Free()

total = np.zeros(1, dtype=int)
world.Reduce(np.array([sent]), total, root=0)
if rank == 0:
    print("messages", total[0])
