/* Two ranks send each other a message back and forth, as a program written for MPI does: with MPI_Send and MPI_Recv, or, which is faster
   in some libraries, with requests that are polled until they are complete. Prints half of the shortest round trip, as the mean of a
   batch, in nanoseconds: ping_pong BYTES TRIPS BATCHES blocking|polled. */
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

static int polled;

static void until_over(MPI_Request request) {
    for (int over = 0; !over;) {
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
}

static void send(char *message, int bytes, int to) {
    MPI_Request request;
    if (polled) {
        MPI_Isend(message, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
        until_over(request);
    } else {
        MPI_Send(message, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    }
}

static void receive(char *message, int bytes, int from) {
    MPI_Request request;
    if (polled) {
        MPI_Irecv(message, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
        until_over(request);
    } else {
        MPI_Recv(message, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    int bytes = atoi(arguments[1]), trips = atoi(arguments[2]), batches = atoi(arguments[3]), me;
    polled = strcmp(arguments[4], "polled") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    char *message = malloc((size_t)bytes);
    memset(message, 1, (size_t)bytes);
    double best = 1e18;
    for (int batch = 0; batch < batches; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now();
        for (int trip = 0; trip < trips; trip++) {
            if (me == 0) {
                send(message, bytes, 1);
            }
            receive(message, bytes, 1 - me);
            if (me == 1) {
                send(message, bytes, 0);
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
