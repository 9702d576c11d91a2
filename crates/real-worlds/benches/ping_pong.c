/* Two ranks send each other a message back and forth, as a program written for MPI does. Prints half of the shortest round trip, as the
   mean of a batch, in nanoseconds: ping_pong BYTES TRIPS BATCHES. */
#include <mpi_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    int bytes = atoi(arguments[1]), trips = atoi(arguments[2]), batches = atoi(arguments[3]), me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    char *message = malloc((size_t)bytes);
    memset(message, 1, (size_t)bytes);
    double best = 1e18;
    for (int batch = 0; batch < batches; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now();
        for (int trip = 0; trip < trips; trip++) {
            if (me == 0) {
                MPI_Send(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            }
            MPI_Recv(message, bytes, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (me == 1) {
                MPI_Send(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        }
        double half = (now() - start) / trips / 2;
        best = half < best ? half : best;
    }
    if (me == 0) {
        printf("%.1f\n", best);
    }
    free(message);
    MPI_Finalize();
}
