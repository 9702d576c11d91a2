/* Exchanges by one sparse matrix: mpiexec -n 8 exchange BYTES EXCHANGES. Prints the median time of one that all ranks begin at the same time, after a
 * barrier, until the last rank has finished it; then the mean time of one of many in a row, in which ranks may run ahead of each other. [us] */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, size, bytes = atoi(argv[1]), exchanges = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* One in ten of all pairs, the same on all ranks. */
    int *matrix = calloc((size_t)(size * size), sizeof(int));
    unsigned long state = 88172645463325252UL;
    for (int left = (size * (size - 1) + 5) / 10; left > 0;) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        int pair = (int)(state % (unsigned long)(size * size));
        if (pair / size != pair % size && matrix[pair] == 0) matrix[pair] = bytes, left--;
    }
    int sent[size], received[size], sent_at[size], received_at[size], to_send = 0, to_receive = 0;
    for (int other = 0; other < size; other++) {
        sent[other] = matrix[me * size + other], sent_at[other] = to_send, to_send += sent[other];
        received[other] = matrix[other * size + me], received_at[other] = to_receive, to_receive += received[other];
    }
    char *from = malloc((size_t)to_send + 1), *to = malloc((size_t)to_receive + 1);
    memset(from, me, (size_t)to_send + 1);
    double *own = calloc((size_t)exchanges, sizeof(double)), *longest = calloc((size_t)exchanges, sizeof(double));
    for (int synchronized = 1; synchronized >= 0; synchronized--) {
        double began = 0;
        for (int exchange = 0; exchange < exchanges; exchange++) {
            if (synchronized || exchange == 0) {
                MPI_Barrier(MPI_COMM_WORLD);
                began = MPI_Wtime();
            }
            MPI_Alltoallv(from, sent, sent_at, MPI_BYTE, to, received, received_at, MPI_BYTE, MPI_COMM_WORLD);
            own[exchange] = MPI_Wtime() - began;
        }
        MPI_Reduce(own, longest, exchanges, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        double last = longest[exchanges - 1] / exchanges;
        qsort(longest, (size_t)exchanges, sizeof(double), by_size);
        if (me == 0) printf("%.3f\n", (synchronized ? longest[exchanges / 2] : last) * 1e6);
    }
    MPI_Finalize();
    return 0;
}
