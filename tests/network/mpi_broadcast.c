/* How long a broadcast of MPI takes: from when the root begins until the last rank has it, by the clock that all processes
 * of one machine share. Usage: mpi_broadcast REPEATS BYTES...; rank 0 prints a line for each size: bytes, then the least,
 * the median and the most [us]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Broadcasts of this size or more are repeated a tenth as often. [B] */
enum { LARGE = 100000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static int ascending(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments)
{
    int rank, repeats = count > 1 ? atoi(arguments[1]) : 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *took = calloc(repeats > 0 ? repeats : 1, sizeof *took);
    for (int index = 2; index < count; index++) {
        int bytes = atoi(arguments[index]);
        int times = bytes < LARGE ? repeats : repeats / 10;
        char *message = malloc(bytes);
        for (int repeat = 0; repeat < times; repeat++) {
            memset(message, rank == 0 ? repeat & 0x7f : 0x80, bytes);
            MPI_Barrier(MPI_COMM_WORLD);
            double begun = now(), ended, last;
            MPI_Bcast(message, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            ended = now();
            if (message[0] != (repeat & 0x7f) || message[bytes - 1] != (repeat & 0x7f))
                MPI_Abort(MPI_COMM_WORLD, 1);
            MPI_Reduce(&ended, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            took[repeat] = last - begun;
        }
        if (rank == 0) {
            qsort(took, times, sizeof *took, ascending);
            printf("%d %.1f %.1f %.1f\n", bytes, took[0], took[times / 2], took[times - 1]);
        }
        free(message);
    }
    free(took);
    MPI_Finalize();
    return 0;
}
