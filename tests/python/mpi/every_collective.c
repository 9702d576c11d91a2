/* Calls every collective that a plan can have, with many sizes and types, and prints a digest of the data that each rank received, which must not
 * depend on the algorithm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

static unsigned long state;
static unsigned random_below(unsigned n) { state = state * 6364136223846793005UL + 1442695040888963407UL; return (unsigned)(state >> 33) % n; }
static unsigned long digest = 14695981039346656037UL;
static void note(const void *data, size_t bytes) { const unsigned char *b = data; for (size_t i = 0; i < bytes; i++) { digest ^= b[i]; digest *= 1099511628211UL; } }
static void fill(unsigned char *b, size_t n, unsigned seed) { for (size_t i = 0; i < n; i++) b[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8)); }

static int nonblocking; /* whether the nonblocking forms are used */
static MPI_Request request;
static void end(void) { if (nonblocking) { int flag = 0; MPI_Test(&request, &flag, MPI_STATUS_IGNORE); if (!flag) MPI_Wait(&request, MPI_STATUS_IGNORE); } }
#define DO(call, icall) do { if (nonblocking) icall; else call; end(); } while (0)

static void bcast(MPI_Comm comm, int me, int size, int bytes) {
    int root = (int)random_below((unsigned)size);
    unsigned char *b = calloc((size_t)bytes + 1, 1);
    if (me == root) fill(b, (size_t)bytes, (unsigned)root + 3);
    DO(MPI_Bcast(b, bytes, MPI_BYTE, root, comm), MPI_Ibcast(b, bytes, MPI_BYTE, root, comm, &request));
    note(b, (size_t)bytes);
    free(b);
    /* A vector at the root, plain integers elsewhere. */
    int n = bytes / 8;
    if (n == 0) return;
    MPI_Datatype vector;
    MPI_Type_vector(n, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    int *v = calloc((size_t)(2 * n + 2), sizeof(int));
    if (me == root) { for (int i = 0; i < n; i++) v[2 * i] = i * 5 + root; DO(MPI_Bcast(v, 1, vector, root, comm), MPI_Ibcast(v, 1, vector, root, comm, &request)); }
    else DO(MPI_Bcast(v, n, MPI_INT, root, comm), MPI_Ibcast(v, n, MPI_INT, root, comm, &request));
    note(v, (size_t)(2 * n) * sizeof(int));
    free(v);
    MPI_Type_free(&vector);
}

static void minus(void *in, void *inout, int *len, MPI_Datatype *t) { (void)t; int *a = in, *b = inout; for (int i = 0; i < *len; i++) b[i] = a[i] - b[i]; }
static void plus(void *in, void *inout, int *len, MPI_Datatype *t) { (void)t; int *a = in, *b = inout; for (int i = 0; i < *len; i++) b[i] = a[i] + b[i] + 1; }

static void allreduce(MPI_Comm comm, int me, int size, int bytes) {
    (void)size;
    int n = bytes / 8;
    double *a = malloc(((size_t)n + 1) * 8), *r = malloc(((size_t)n + 1) * 8);
    for (int i = 0; i < n; i++) a[i] = (i * 7 + me * 3) % 1000;
    DO(MPI_Allreduce(a, r, n, MPI_DOUBLE, MPI_SUM, comm), MPI_Iallreduce(a, r, n, MPI_DOUBLE, MPI_SUM, comm, &request));
    note(r, (size_t)n * 8);
    DO(MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE, MPI_MAX, comm), MPI_Iallreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE, MPI_MAX, comm, &request));
    note(a, (size_t)n * 8);
    int *x = (int *)a, *y = (int *)r;
    for (int i = 0; i < n; i++) x[i] = i ^ (me << 4);
    DO(MPI_Allreduce(x, y, n, MPI_INT, MPI_BXOR, comm), MPI_Iallreduce(x, y, n, MPI_INT, MPI_BXOR, comm, &request));
    note(y, (size_t)n * 4);
    DO(MPI_Allreduce(x, y, n / 2, MPI_2INT, MPI_MAXLOC, comm), MPI_Iallreduce(x, y, n / 2, MPI_2INT, MPI_MAXLOC, comm, &request));
    note(y, (size_t)(n / 2) * 8);
    MPI_Op own[2];
    MPI_Op_create(minus, 0, &own[0]);
    MPI_Op_create(plus, 1, &own[1]);
    for (int k = 0; k < 2; k++) {
        DO(MPI_Allreduce(x, y, n, MPI_INT, own[k], comm), MPI_Iallreduce(x, y, n, MPI_INT, own[k], comm, &request));
        note(y, (size_t)n * 4);
        MPI_Op_free(&own[k]);
    }
    unsigned char *c = malloc((size_t)bytes + 1), *d = malloc((size_t)bytes + 1);
    fill(c, (size_t)bytes, (unsigned)me);
    DO(MPI_Allreduce(c, d, bytes, MPI_UINT8_T, MPI_MIN, comm), MPI_Iallreduce(c, d, bytes, MPI_UINT8_T, MPI_MIN, comm, &request));
    note(d, (size_t)bytes);
    free(a); free(r); free(c); free(d);
}

static void alltoall(MPI_Comm comm, int me, int size, int bytes) {
    size_t all = (size_t)bytes * (size_t)size;
    unsigned char *a = malloc(all + 1), *b = calloc(all + 1, 1);
    fill(a, all, (unsigned)me);
    DO(MPI_Alltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, comm), MPI_Ialltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, comm, &request));
    note(b, all);
    DO(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, bytes, MPI_BYTE, comm), MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, bytes, MPI_BYTE, comm, &request));
    note(a, all);
    /* Columns of a matrix: a datatype with gaps, one element of it for each rank. */
    int n = bytes / 4;
    if (n > 0) {
        MPI_Datatype column, resized;
        MPI_Type_vector(n, 1, size, MPI_INT, &column);
        MPI_Type_create_resized(column, 0, 4, &resized);
        MPI_Type_commit(&resized);
        int *m = malloc((size_t)n * (size_t)size * 4), *t = calloc((size_t)n * (size_t)size, 4);
        for (int i = 0; i < n * size; i++) m[i] = i + me * 1000000;
        if (nonblocking) { MPI_Ialltoall(m, 1, resized, t, n, MPI_INT, comm, &request); MPI_Type_free(&column); MPI_Type_free(&resized); end(); }
        else { MPI_Alltoall(m, 1, resized, t, n, MPI_INT, comm); MPI_Type_free(&column); MPI_Type_free(&resized); }
        note(t, (size_t)n * (size_t)size * 4);
        free(m); free(t);
    }
    free(a); free(b);
}

static void alltoallv(MPI_Comm comm, int me, int size, int bytes, unsigned percent) {
    int *matrix = malloc((size_t)(size * size) * sizeof(int)); /* in integers */
    for (int i = 0; i < size * size; i++) matrix[i] = random_below(100) < percent ? (int)random_below((unsigned)bytes / 4 + 1) : 0;
    int sc[size], sd[size], rc[size], rd[size], st = 0, rt = 0;
    for (int j = 0; j < size; j++) {
        sc[j] = matrix[me * size + j]; sd[j] = st; st += sc[j] + 1;
        rc[j] = matrix[j * size + me];
    }
    for (int j = size - 1; j >= 0; j--) { rd[j] = rt; rt += rc[j] + 2; }
    int *a = malloc((size_t)(st + 1) * 4), *b = calloc((size_t)rt + 1, 4);
    for (int i = 0; i < st; i++) a[i] = me * 100000 + i;
    DO(MPI_Alltoallv(a, sc, sd, MPI_INT, b, rc, rd, MPI_INT, comm), MPI_Ialltoallv(a, sc, sd, MPI_INT, b, rc, rd, MPI_INT, comm, &request));
    note(b, (size_t)rt * 4);
    /* The same for large counts, of a datatype of two integers on one side. */
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Count lsc[size], lrc[size]; MPI_Aint lsd[size], lrd[size];
    for (int j = 0; j < size; j++) { lsc[j] = sc[j] / 2; lsd[j] = sd[j] / 2; lrc[j] = rc[j] / 2 * 2; lrd[j] = rd[j]; }
    memset(b, 0, (size_t)rt * 4);
    DO(MPI_Alltoallv_c(a, lsc, lsd, pair, b, lrc, lrd, MPI_INT, comm), MPI_Ialltoallv_c(a, lsc, lsd, pair, b, lrc, lrd, MPI_INT, comm, &request));
    note(b, (size_t)rt * 4);
    MPI_Type_free(&pair);
    /* In place, with a symmetric matrix. */
    for (int i = 0; i < size; i++) for (int j = 0; j < i; j++) matrix[i * size + j] = matrix[j * size + i];
    rt = 0;
    for (int j = 0; j < size; j++) { rc[j] = matrix[j * size + me]; rd[j] = rt; rt += rc[j]; }
    b = realloc(b, (size_t)(rt + 1) * 4);
    for (int i = 0; i < rt; i++) b[i] = me * 7000 + i;
    DO(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, rc, rd, MPI_INT, comm), MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, rc, rd, MPI_INT, comm, &request));
    note(b, (size_t)rt * 4);
    free(matrix); free(a); free(b);
}

/* From and to one rank or all of them, in place as well, with a vector on one side. */
static void gathers(MPI_Comm comm, int me, int size, int bytes) {
    int root = (int)random_below((unsigned)size), n = bytes / 4;
    if (n == 0) return;
    size_t all = (size_t)n * (size_t)size;
    int *own = calloc((size_t)(2 * n) + 1, 4), *whole = calloc(all + 1, 4);
    MPI_Datatype vector;
    MPI_Type_vector(n, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < 2 * n; i++) own[i] = me * 1000 + i;
    /* What is received matters only at the root, and what is sent does not where it is in place. */
    MPI_Datatype there = me == root ? MPI_INT : MPI_DATATYPE_NULL;
    DO(MPI_Gather(own, 1, vector, me == root ? whole : NULL, me == root ? n : -1, there, root, comm),
       MPI_Igather(own, 1, vector, me == root ? whole : NULL, me == root ? n : -1, there, root, comm, &request));
    note(whole, all * 4);
    if (me == root) DO(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, n, MPI_INT, root, comm), MPI_Igather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, n, MPI_INT, root, comm, &request));
    else DO(MPI_Gather(own, n, MPI_INT, NULL, 0, MPI_INT, root, comm), MPI_Igather(own, n, MPI_INT, NULL, 0, MPI_INT, root, comm, &request));
    note(whole, all * 4);
    if (me == root) DO(MPI_Scatter(whole, n, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm), MPI_Iscatter(whole, n, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm, &request));
    else DO(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, own, 1, vector, root, comm), MPI_Iscatter(NULL, 0, MPI_DATATYPE_NULL, own, 1, vector, root, comm, &request));
    note(own, (size_t)(2 * n) * 4);
    DO(MPI_Scatter(whole, n, MPI_INT, own, n, MPI_INT, root, comm), MPI_Iscatter(whole, n, MPI_INT, own, n, MPI_INT, root, comm, &request));
    note(own, (size_t)n * 4);
    for (int i = 0; i < n; i++) own[i] = me * 77 + i;
    DO(MPI_Allgather(own, n, MPI_INT, whole, n, MPI_INT, comm), MPI_Iallgather(own, n, MPI_INT, whole, n, MPI_INT, comm, &request));
    note(whole, all * 4);
    for (size_t i = 0; i < all; i++) whole[i] = i / (size_t)n == (size_t)me ? me + (int)i : -1;
    DO(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, n, MPI_INT, comm), MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, n, MPI_INT, comm, &request));
    note(whole, all * 4);
    MPI_Type_free(&vector);
    free(own); free(whole);
}

static void reductions(MPI_Comm comm, int me, int size, int bytes) {
    int root = (int)random_below((unsigned)size), n = bytes / 4;
    if (n == 0) return;
    size_t all = (size_t)n * (size_t)size;
    int *a = malloc((all + 1) * 4), *b = calloc(all + 1, 4);
    for (size_t i = 0; i < all; i++) a[i] = (int)i * 3 + me;
    DO(MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, root, comm), MPI_Ireduce(a, b, n, MPI_INT, MPI_SUM, root, comm, &request));
    note(b, (size_t)n * 4);
    if (me == root) DO(MPI_Reduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_BXOR, root, comm), MPI_Ireduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_BXOR, root, comm, &request));
    else DO(MPI_Reduce(a, NULL, n, MPI_INT, MPI_BXOR, root, comm), MPI_Ireduce(a, NULL, n, MPI_INT, MPI_BXOR, root, comm, &request));
    note(b, (size_t)n * 4);
    DO(MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, comm), MPI_Ireduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, comm, &request));
    note(b, (size_t)n * 4);
    DO(MPI_Scan(a, b, n, MPI_INT, MPI_SUM, comm), MPI_Iscan(a, b, n, MPI_INT, MPI_SUM, comm, &request));
    note(b, (size_t)n * 4);
    DO(MPI_Scan(MPI_IN_PLACE, b, n, MPI_INT, MPI_MAX, comm), MPI_Iscan(MPI_IN_PLACE, b, n, MPI_INT, MPI_MAX, comm, &request));
    note(b, (size_t)n * 4);
    /* What the first rank ends with is undefined, and what it had stays. */
    DO(MPI_Exscan(a, b, n, MPI_INT, MPI_SUM, comm), MPI_Iexscan(a, b, n, MPI_INT, MPI_SUM, comm, &request));
    if (me > 0) note(b, (size_t)n * 4);
    DO(MPI_Reduce_scatter_block(MPI_IN_PLACE, a, n, MPI_INT, MPI_SUM, comm), MPI_Ireduce_scatter_block(MPI_IN_PLACE, a, n, MPI_INT, MPI_SUM, comm, &request));
    note(a, (size_t)n * 4);
    free(a); free(b);
}

/* Blocks of sizes of their own, some of them empty, with gaps between them and in place. */
static void uneven(MPI_Comm comm, int me, int size, int bytes) {
    int counts[size], places[size], room = 0, sum = 0;
    MPI_Count large[size]; MPI_Aint far[size];
    for (int j = 0; j < size; j++) counts[j] = random_below(100) < 20 ? 0 : (int)random_below((unsigned)bytes / 4 + 1);
    for (int j = size - 1; j >= 0; j--) { places[j] = room; room += counts[j] + 1; sum += counts[j]; }
    for (int j = 0; j < size; j++) { large[j] = counts[j]; far[j] = places[j]; }
    int *own = malloc((size_t)(sum + 2) * 4), *whole = calloc((size_t)room + 1, 4);
    for (int i = 0; i < sum; i++) own[i] = me * 1000 + i;
    DO(MPI_Allgatherv(own, counts[me], MPI_INT, whole, counts, places, MPI_INT, comm), MPI_Iallgatherv(own, counts[me], MPI_INT, whole, counts, places, MPI_INT, comm, &request));
    note(whole, (size_t)room * 4);
    for (int i = 0; i < room; i++) whole[i] = -1;
    for (int i = 0; i < counts[me]; i++) whole[places[me] + i] = me * 13 + i;
    DO(MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, large, far, MPI_INT, comm), MPI_Iallgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, large, far, MPI_INT, comm, &request));
    note(whole, (size_t)room * 4);
    memset(whole, 0, (size_t)room * 4);
    DO(MPI_Reduce_scatter(own, whole, counts, MPI_INT, MPI_SUM, comm), MPI_Ireduce_scatter(own, whole, counts, MPI_INT, MPI_SUM, comm, &request));
    note(whole, (size_t)counts[me] * 4);
    DO(MPI_Reduce_scatter_c(MPI_IN_PLACE, own, large, MPI_INT, MPI_MAX, comm), MPI_Ireduce_scatter_c(MPI_IN_PLACE, own, large, MPI_INT, MPI_MAX, comm, &request));
    note(own, (size_t)counts[me] * 4);
    free(own); free(whole);
}

static void all(MPI_Comm comm, unsigned seed) {
    static const int sizes[] = {0, 1, 8, 100, 4000, 8192, 8200, 70000};
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    state = seed;
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        bcast(comm, me, size, sizes[k]);
        allreduce(comm, me, size, sizes[k]);
        alltoall(comm, me, size, sizes[k]);
        alltoallv(comm, me, size, sizes[k], 10);
        alltoallv(comm, me, size, sizes[k], 80);
        gathers(comm, me, size, sizes[k]);
        reductions(comm, me, size, sizes[k]);
        uneven(comm, me, size, sizes[k]);
    }
}

/* Several nonblocking collectives at once, completed in another order, with a message in between that one of them must not wait for. */
static void overlapped(MPI_Comm comm) {
    int me, size, a[1000], b[1000], c = 1, token = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 1000; i++) { a[i] = me == 0 ? i : -1; b[i] = me == size - 1 ? 2 * i : -1; }
    MPI_Request r[3];
    MPI_Ibcast(a, 1000, MPI_INT, 0, comm, &r[0]);
    MPI_Ibcast(b, 1000, MPI_INT, size - 1, comm, &r[1]);
    MPI_Iallreduce(MPI_IN_PLACE, &c, 1, MPI_INT, MPI_SUM, comm, &r[2]);
    if (me == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 7, comm, MPI_STATUS_IGNORE);
    if (me == size - 1) { MPI_Wait(&r[2], MPI_STATUS_IGNORE); token = c; MPI_Send(&token, 1, MPI_INT, 0, 7, comm); }
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    note(a, sizeof a); note(b, sizeof b); note(&c, sizeof c); note(&token, sizeof token);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm same, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    for (nonblocking = 0; nonblocking < 2; nonblocking++) {
        all(MPI_COMM_WORLD, 1);
        all(same, 2);
        all(half, 3);
    }
    overlapped(same);
    MPI_Comm_free(&same);
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    overlapped(same);
    MPI_Comm_free(&half);
    unsigned long digests[size];
    MPI_Gather(&digest, 1, MPI_UNSIGNED_LONG, digests, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < size; i++) printf("%lx\n", digests[i]);
    MPI_Finalize();
    return 0;
}
