/* Collectives as the OSU micro-benchmarks time them: mpiexec -n N collectives MILLISECONDS. For each collective and size, the mean time of a call over
 * all ranks, where a barrier, which is not counted, comes before each call. Prints a line for each: its name, its size, its time. [us] */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 5, MOST = 2000, LARGEST = 1 << 20 };

static const char *const NAMES[] = {"broadcast", "all-reduce", "all-to-all", "all-to-allv"};
static const int SIZES[] = {64, 1 << 10, 16 << 10, 128 << 10, LARGEST};

static char *from, *to;
static int *counts, *places;

static void call(int collective, int bytes) {
    switch (collective) {
    case 0: MPI_Bcast(from, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(from, to, bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD); break;
    default: MPI_Alltoallv(from, counts, places, MPI_CHAR, to, counts, places, MPI_CHAR, MPI_COMM_WORLD);
    }
}

/* The mean time of so many calls on this rank. [s] */
static double timed(int collective, int bytes, int calls) {
    double sum = 0;
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        call(collective, bytes);
        sum += MPI_Wtime() - began;
    }
    return sum / calls;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double limit = argc > 1 ? atof(argv[1]) / 1000 : 0.02;
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t room = (size_t)ranks * LARGEST;
    from = malloc(room), to = malloc(room);
    counts = malloc((size_t)ranks * sizeof(int)), places = malloc((size_t)ranks * sizeof(int));
    memset(from, 0, room), memset(to, 0, room);
    for (int collective = 0; collective < 4; collective++) {
        for (int size = 0; size < 5; size++) {
            int bytes = SIZES[size];
            for (int rank = 0; rank < ranks; rank++) counts[rank] = bytes, places[rank] = rank * bytes;
            double own = timed(collective, bytes, FEWEST), all, began = MPI_Wtime();
            own = timed(collective, bytes, FEWEST);
            double whole = (MPI_Wtime() - began) / FEWEST;
            MPI_Allreduce(&whole, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            int calls = (int)(limit / all);
            calls = calls < FEWEST ? FEWEST : calls > MOST ? MOST : calls;
            own = timed(collective, bytes, calls);
            MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
            if (me == 0) printf("%s %d %.4f\n", NAMES[collective], bytes, all / ranks * 1e6);
        }
    }
    MPI_Finalize();
    return 0;
}
