/* Work between tests that find nothing. Of two ranks, rank 0 begins a receive whose message is sent only when rank 0 requests it, and tests it
 * again and again, with some hundred nanoseconds of computing in between; then it requests the message. It prints how long that took, in nanoseconds. */

#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { TESTS = 20000, STEPS = 60 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* A chain of operations that no compiler shortens. */
static double compute(double value) {
  for (int step = 0; step < STEPS; step++) value = value * 0.999999 + 1e-6;
  return value;
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank, message = 0, over = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    double start = now(), value = 2;
    for (int test = 0; test < TESTS; test++) {
      value = compute(value);
      MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
    double took = now() - start;
    MPI_Send(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("tested %.0f, up to %f\n", took, value);
  } else if (rank == 1) {
    MPI_Recv(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
