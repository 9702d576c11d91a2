/* Conjugate gradients on a square grid that is cut in stripes, one for each rank, as in NAS CG with MG's halo: in each iteration the rows next
 * to a border go to the neighbours, and three numbers are summed over all ranks. It solves the five-point Laplace equation with a source in
 * the middle, and prints the residual, the point-to-point messages of this rank and the time of the iterations. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, rows, width;
static long messages;

/* Fills the rows above and below with those of the neighbours. */
static void exchange(double *field) {
  int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  MPI_Irecv(field, width, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(field + (rows + 1) * width, width, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(field + width, width, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(field + rows * width, width, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  messages += (above != MPI_PROC_NULL) + (below != MPI_PROC_NULL);
}

static double dot(const double *one, const double *other) {
  double own = 0, sum;
  for (int place = width; place < (rows + 1) * width; place++) own += one[place] * other[place];
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static void laplace(const double *in, double *out) {
  for (int row = 1; row <= rows; row++)
    for (int column = 0; column < width; column++) {
      const double *at = in + row * width + column;
      double left = column > 0 ? at[-1] : 0, right = column + 1 < width ? at[1] : 0;
      out[row * width + column] = 4 * at[0] - left - right - at[-width] - at[width];
    }
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  width = count > 1 ? atoi(arguments[1]) : 512;
  int iterations = count > 2 ? atoi(arguments[2]) : 100;
  rows = width / size;
  size_t cells = (size_t)(rows + 2) * width;
  double *x = calloc(cells, sizeof *x), *r = calloc(cells, sizeof *r), *p = calloc(cells, sizeof *p), *q = calloc(cells, sizeof *q);
  if (rank == size / 2) r[width + width / 2] = p[width + width / 2] = 1;

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), rho = dot(r, r);
  for (int iteration = 0; iteration < iterations; iteration++) {
    exchange(p);
    laplace(p, q);
    double alpha = rho / dot(p, q);
    for (size_t place = width; place < (size_t)(rows + 1) * width; place++) {
      x[place] += alpha * p[place];
      r[place] -= alpha * q[place];
    }
    double before = rho;
    rho = dot(r, r);
    for (size_t place = width; place < (size_t)(rows + 1) * width; place++) p[place] = r[place] + rho / before * p[place];
  }
  double took = MPI_Wtime() - start;
  long all;
  MPI_Reduce(&messages, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("residual %g messages %ld seconds %.6f\n", sqrt(rho), all, took);
  MPI_Finalize();
  return 0;
}
