/* supernodal.c - Cholesky factor of a sparse matrix with the pattern of a graph.
 *
 * Order     AMD, then a postorder of the elimination tree (Liu 1990)
 * Pattern   rows of L by paths in the elimination tree (Gilbert, Ng and Peyton 1994); columns of
 *           the same pattern are supernodes, and a supernode joins its parent where this adds few
 *           zeros (Ashcraft and Grimes 1989)
 * Numbers   multifrontal: dense factor of each supernode, Schur complements on a stack (Duff and
 *           Reid 1983) */
#include "linalg/supernodal.h"
#include "linalg/lapack.h"

#include <amd.h>
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW_COLUMNS  4    /* a supernode of as many columns joins its parent with */
#define FEW_ZEROS    0.8  /* this share of zeros, */
#define SOME_COLUMNS 16   /* one of as many with */
#define SOME_ZEROS   0.2  /* this share, */
#define MANY_ZEROS   0.05 /* any other with this share */

void vxs_supernodal_release(vxs_supernodal *f)
{
    free(f->permutation);
    free(f->inverse);
    free(f->entry);
    free(f->column);
    free(f->row_start);
    free(f->value_start);
    free(f->parent);
    free(f->row);
    free(f->in_parent);
    free(f->value);
    free(f->updates);
    free(f->stack);
    *f = (vxs_supernodal){ .count = 0 };
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Neighbors of each node of the graph, and work space of the symbolic factorization. */
typedef struct {
    size_t n;
    SuiteSparse_long *start, *neighbor, *order;
    size_t *etree, *filled, *mark, *child, *next; /* n + 1 */
} analysis;

static void release_analysis(analysis *a)
{
    free(a->start);
    free(a->neighbor);
    free(a->order);
    free(a->etree);
    free(a->filled);
    free(a->mark);
    free(a->child);
    free(a->next);
}

static vxs_status begin_analysis(analysis *a, size_t n, size_t edges, vxs_error *err)
{
    *a = (analysis){ .n = n };
    a->start = vxs_alloc(n + 2, sizeof(*a->start), err);
    a->neighbor = vxs_alloc(edges, 2 * sizeof(*a->neighbor), err);
    a->order = vxs_alloc(n, sizeof(*a->order), err);
    a->etree = vxs_alloc(n + 1, sizeof(*a->etree), err);
    a->filled = vxs_alloc(n + 1, sizeof(*a->filled), err);
    a->mark = vxs_alloc(n + 1, sizeof(*a->mark), err);
    a->child = vxs_alloc(n + 1, sizeof(*a->child), err);
    a->next = vxs_alloc(n + 1, sizeof(*a->next), err);
    bool fine = a->start && a->neighbor && a->order && a->etree && a->filled && a->mark &&
                a->child && a->next;
    return fine ? VXS_OK : VXS_FAILED;
}

static void list_neighbors(analysis *a, size_t edges, const size_t *from, const size_t *to)
{
    for (size_t e = 0; e < edges; e++) {
        a->start[from[e] + 2]++;
        a->start[to[e] + 2]++;
    }
    for (size_t i = 2; i < a->n + 2; i++)
        a->start[i] += a->start[i - 1];
    for (size_t e = 0; e < edges; e++) {
        a->neighbor[a->start[from[e] + 1]++] = (SuiteSparse_long)to[e];
        a->neighbor[a->start[to[e] + 1]++] = (SuiteSparse_long)from[e];
    }
}

static vxs_status find_order(vxs_supernodal *f, analysis *a, vxs_error *err)
{
    if (a->n > 0 &&
        amd_l_order((SuiteSparse_long)a->n, a->start, a->neighbor, a->order, NULL, NULL) < AMD_OK)
        return vxs_fail(err, VXS_FAILED, "not enough memory: %zu variables to be ordered", a->n);
    for (size_t k = 0; k < a->n; k++) {
        f->permutation[k] = (size_t)a->order[k];
        f->inverse[f->permutation[k]] = k;
    }
    return VXS_OK;
}

/* The parent of a column is its first nonzero below the diagonal; `filled` counts these. */
static void find_etree(const vxs_supernodal *f, analysis *a)
{
    memset(a->filled, 0, a->n * sizeof(*a->filled));
    for (size_t k = 0; k < a->n; k++) {
        size_t node = f->permutation[k];
        a->etree[k] = a->n;
        a->mark[k] = k;
        for (SuiteSparse_long e = a->start[node]; e < a->start[node + 1]; e++)
            for (size_t i = f->inverse[a->neighbor[e]]; i < k && a->mark[i] != k; i = a->etree[i]) {
                if (a->etree[i] == a->n)
                    a->etree[i] = k;
                a->filled[i]++;
                a->mark[i] = k;
            }
    }
}

/* Columns follow their children in the elimination tree: supernodes are contiguous then. */
static void find_postorder(vxs_supernodal *f, analysis *a)
{
    size_t n = a->n, at = 0;
    for (size_t k = 0; k <= n; k++)
        a->child[k] = n;
    for (size_t k = n; k-- > 0;) {
        a->next[k] = a->child[a->etree[k]];
        a->child[a->etree[k]] = k;
    }
    for (size_t k = a->child[n]; k < n;) {
        if (a->child[k] < n) { /* children first, each once */
            size_t child = a->child[k];
            a->child[k] = n;
            k = child;
            continue;
        }
        a->mark[at++] = f->permutation[k];
        k = a->next[k] < n ? a->next[k] : a->etree[k];
    }
    for (size_t k = 0; k < n; k++) {
        f->permutation[k] = a->mark[k];
        f->inverse[a->mark[k]] = k;
    }
    find_etree(f, a);
}

/* ---- Supernodes ------------------------------------------------------------------------------ */

/* The numbers of a supernode: columns, rows below these, and zeros that joining added. */
typedef struct {
    double columns, below, zeros;
} shape;

static double entries(shape s)
{
    return s.columns * (s.columns + 1) / 2 + s.columns * s.below;
}

/* Of a supernode and the next one, its parent. */
static shape join(shape child, shape parent)
{
    double more = child.columns * (parent.columns + parent.below - child.below);
    return (shape){ child.columns + parent.columns, parent.below,
                    child.zeros + parent.zeros + more };
}

static bool is_worth_joining(shape s, double fewest)
{
    double share = s.zeros / entries(s);
    return share == 0 || (fewest <= FEW_COLUMNS && share < FEW_ZEROS) ||
           (fewest <= SOME_COLUMNS && share < SOME_ZEROS) || share < MANY_ZEROS;
}

/* Columns enter in ascending order; the last supernode joins a new one while that is its parent. */
static vxs_status find_supernodes(vxs_supernodal *f, const analysis *a, vxs_error *err)
{
    shape *shapes = vxs_alloc(a->n, sizeof(*shapes), err);
    if (!shapes)
        return VXS_FAILED;
    size_t count = 0;
    for (size_t k = 0; k < a->n; k++) {
        shape now = { 1, (double)a->filled[k], 0 };
        f->column[count] = k;
        for (; count > 0 && a->etree[f->column[count] - 1] == k; count--) {
            shape joined = join(shapes[count - 1], now);
            if (!is_worth_joining(joined, fmin(shapes[count - 1].columns, now.columns)))
                break;
            now = joined;
        }
        shapes[count++] = now;
    }
    f->supernodes = count;
    f->column[count] = a->n;
    f->row_start[0] = f->value_start[0] = 0;
    for (size_t s = 0; s < count; s++) {
        size_t columns = f->column[s + 1] - f->column[s];
        size_t rows = columns + (size_t)shapes[s].below;
        f->row_start[s + 1] = f->row_start[s] + rows;
        f->value_start[s + 1] = f->value_start[s] + rows * columns;
        f->longest = rows > f->longest ? rows : f->longest;
    }
    free(shapes);
    return VXS_OK;
}

static int ascending(const void *a, const void *b)
{
    size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
}

static size_t add_row(const vxs_supernodal *f, analysis *a, size_t s, size_t row, size_t at)
{
    if (row < f->column[s + 1] || a->mark[row] == s)
        return at;
    a->mark[row] = s;
    f->row[at] = row;
    return at + 1;
}

/* Rows of a supernode: those of the matrix in its columns, and those of its children. */
static void find_rows(vxs_supernodal *f, analysis *a)
{
    for (size_t k = 0; k <= a->n; k++)
        a->mark[k] = a->child[k] = SIZE_MAX;
    for (size_t s = 0; s < f->supernodes; s++) {
        size_t at = f->row_start[s], columns = f->column[s + 1] - f->column[s];
        for (size_t k = f->column[s]; k < f->column[s + 1]; k++)
            f->row[at++] = k;
        for (size_t k = f->column[s]; k < f->column[s + 1]; k++)
            for (SuiteSparse_long e = a->start[f->permutation[k]];
                 e < a->start[f->permutation[k] + 1]; e++)
                at = add_row(f, a, s, f->inverse[a->neighbor[e]], at);
        for (size_t c = a->child[s]; c != SIZE_MAX; c = a->next[c])
            for (size_t r = f->row_start[c]; r < f->row_start[c + 1]; r++)
                at = add_row(f, a, s, f->row[r], at);
        size_t *below = f->row + f->row_start[s] + columns;
        qsort(below, at - f->row_start[s] - columns, sizeof(*below), ascending);
        f->parent[s] = f->supernodes;
        if (at == f->row_start[s] + columns)
            continue;
        for (f->parent[s] = s + 1; f->column[f->parent[s] + 1] <= *below;)
            f->parent[s]++;
        a->next[s] = a->child[f->parent[s]];
        a->child[f->parent[s]] = s;
    }
}

/* Where rows below the columns are in the parent. */
static void find_places(vxs_supernodal *f)
{
    for (size_t s = 0; s < f->supernodes; s++) {
        size_t p = f->parent[s], columns = f->column[s + 1] - f->column[s];
        if (p == f->supernodes)
            continue;
        size_t at = f->row_start[p];
        for (size_t r = f->row_start[s] + columns; r < f->row_start[s + 1]; r++) {
            while (f->row[at] < f->row[r])
                at++;
            f->in_parent[r] = at - f->row_start[p];
        }
    }
}

static void place_edges(vxs_supernodal *f, const size_t *from, const size_t *to)
{
    size_t *supernode = f->entry + f->edges; /* of each column */
    for (size_t s = 0; s < f->supernodes; s++)
        for (size_t k = f->column[s]; k < f->column[s + 1]; k++)
            supernode[k] = s;
    for (size_t e = 0; e < f->edges; e++) {
        size_t i = f->inverse[from[e]], j = f->inverse[to[e]], low = i < j ? i : j;
        size_t high = i < j ? j : i, s = supernode[low];
        size_t rows = f->row_start[s + 1] - f->row_start[s];
        const size_t *row = f->row + f->row_start[s];
        const size_t *found = bsearch(&high, row, rows, sizeof(*row), ascending);
        f->entry[e] = f->value_start[s] + (low - f->column[s]) * rows + (size_t)(found - row);
    }
}

/* The stack holds the Schur complements of children that wait for their parent. */
static size_t most_updates(const vxs_supernodal *f, size_t *waiting)
{
    size_t now = 0, most = 0;
    memset(waiting, 0, (f->supernodes + 1) * sizeof(*waiting));
    for (size_t s = 0; s < f->supernodes; s++) {
        size_t below = f->row_start[s + 1] - f->row_start[s] - (f->column[s + 1] - f->column[s]);
        now += below * below;
        most = now > most ? now : most;
        now -= waiting[s];
        waiting[f->parent[s]] += below * below;
    }
    return most;
}

static vxs_status allocate_order(vxs_supernodal *f, vxs_error *err)
{
    size_t n = f->count;
    f->permutation = vxs_alloc(n, sizeof(*f->permutation), err);
    f->inverse = vxs_alloc(n, sizeof(*f->inverse), err);
    f->column = vxs_alloc(n + 1, sizeof(*f->column), err);
    f->row_start = vxs_alloc(n + 1, sizeof(*f->row_start), err);
    f->value_start = vxs_alloc(n + 1, sizeof(*f->value_start), err);
    f->parent = vxs_alloc(n, sizeof(*f->parent), err);
    f->entry = vxs_alloc(f->edges + n, sizeof(*f->entry), err);
    bool fine = f->permutation && f->inverse && f->column && f->row_start && f->value_start &&
                f->parent && f->entry;
    return fine ? VXS_OK : VXS_FAILED;
}

static vxs_status allocate_rows(vxs_supernodal *f, analysis *a, vxs_error *err)
{
    f->row = vxs_alloc(f->row_start[f->supernodes], sizeof(*f->row), err);
    f->in_parent = vxs_alloc(f->row_start[f->supernodes], sizeof(*f->in_parent), err);
    f->value = vxs_alloc(f->value_start[f->supernodes], sizeof(*f->value), err);
    if (!f->row || !f->in_parent || !f->value)
        return VXS_FAILED;
    find_rows(f, a);
    find_places(f);
    f->updates = vxs_alloc(most_updates(f, a->mark), sizeof(*f->updates), err);
    f->stack = vxs_alloc(f->supernodes, sizeof(*f->stack), err);
    return f->updates && f->stack ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_supernodal_new(size_t count, size_t edges, const size_t *from, const size_t *to,
                              vxs_supernodal *f, vxs_error *err)
{
    analysis a;
    *f = (vxs_supernodal){ .count = count, .edges = edges };
    vxs_status status = begin_analysis(&a, count, edges, err);
    if (!status)
        status = allocate_order(f, err);
    if (!status) {
        list_neighbors(&a, edges, from, to);
        status = find_order(f, &a, err);
    }
    if (!status) {
        find_etree(f, &a);
        find_postorder(f, &a);
        status = find_supernodes(f, &a, err);
    }
    if (!status)
        status = allocate_rows(f, &a, err);
    if (status)
        vxs_supernodal_release(f);
    else
        place_edges(f, from, to);
    release_analysis(&a);
    return status;
}

/* ---- Numeric factorization ------------------------------------------------------------------- */

static void assemble(vxs_supernodal *f, const double *diagonal, const double *beside)
{
    memset(f->value, 0, f->value_start[f->supernodes] * sizeof(*f->value));
    for (size_t s = 0; s < f->supernodes; s++) {
        size_t rows = f->row_start[s + 1] - f->row_start[s];
        for (size_t k = f->column[s]; k < f->column[s + 1]; k++)
            f->value[f->value_start[s] + (k - f->column[s]) * (rows + 1)] =
                diagonal[f->permutation[k]];
    }
    for (size_t e = 0; e < f->edges; e++)
        f->value[f->entry[e]] += beside[e];
}

/* Adds the Schur complement of child `c` to the columns and the Schur complement of its parent. */
static void add_update(vxs_supernodal *f, size_t c, const double *from, double *update)
{
    size_t s = f->parent[c], columns = f->column[s + 1] - f->column[s];
    size_t rows = f->row_start[s + 1] - f->row_start[s], below = rows - columns;
    size_t own = f->column[c + 1] - f->column[c];
    size_t count = f->row_start[c + 1] - f->row_start[c] - own;
    const size_t *place = f->in_parent + f->row_start[c] + own;
    for (size_t j = 0; j < count; j++) {
        bool early = place[j] < columns; /* later columns have no rows above them */
        double *to = early ? f->value + f->value_start[s] + place[j] * rows
                           : update + (place[j] - columns) * below;
        size_t shift = early ? 0 : columns;
        for (size_t i = j; i < count; i++)
            to[place[i] - shift] += from[j * count + i];
    }
}

/* Cholesky factor of the columns of a supernode, and what they subtract from later ones. */
static bool factor_columns(double *value, int rows, int columns, double *update)
{
    int below = rows - columns, info = 0;
    if (columns == 1) {
        if (!(value[0] > 0))
            return false;
        value[0] = sqrt(value[0]);
        for (int i = 1; i < rows; i++)
            value[i] /= value[0];
    } else {
        dpotrf_("L", &columns, value, &rows, &info);
        if (info != 0)
            return false;
        if (below > 0)
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, below,
                        columns, 1, value, rows, value + columns, rows);
    }
    if (below > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, below, columns, -1, value + columns,
                    rows, 1, update, below);
    return true;
}

bool vxs_supernodal_factor(vxs_supernodal *f, const double *diagonal, const double *beside)
{
    double *top = f->updates; /* end of the stack */
    size_t waiting = 0;
    assemble(f, diagonal, beside);
    for (size_t s = 0; s < f->supernodes; s++) {
        size_t columns = f->column[s + 1] - f->column[s];
        size_t rows = f->row_start[s + 1] - f->row_start[s], below = rows - columns;
        double *update = top;
        memset(update, 0, below * below * sizeof(*update));
        for (; waiting > 0 && f->parent[f->stack[waiting - 1]] == s; waiting--) {
            size_t c = f->stack[waiting - 1];
            size_t count = f->row_start[c + 1] - f->row_start[c] - f->column[c + 1] + f->column[c];
            top -= count * count;
            add_update(f, c, top, update);
        }
        if (!factor_columns(f->value + f->value_start[s], (int)rows, (int)columns, update))
            return false;
        if (below == 0)
            continue;
        memmove(top, update, below * below * sizeof(*update));
        top += below * below;
        f->stack[waiting++] = s;
    }
    return true;
}

/* ---- Solutions ------------------------------------------------------------------------------- */

void vxs_supernodal_solve_lower(const vxs_supernodal *f, double *x, double *work)
{
    for (size_t s = 0; s < f->supernodes; s++) {
        int columns = (int)(f->column[s + 1] - f->column[s]);
        int rows = (int)(f->row_start[s + 1] - f->row_start[s]), below = rows - columns;
        const size_t *row = f->row + f->row_start[s] + columns;
        const double *l = f->value + f->value_start[s];
        double *own = x + f->column[s];
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, columns, l, rows, own,
                    1);
        if (below > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, below, columns, 1, l + columns, rows, own, 1,
                        0, work, 1);
        for (int i = 0; i < below; i++)
            x[row[i]] -= work[i];
    }
}

void vxs_supernodal_solve_upper(const vxs_supernodal *f, double *x, double *work)
{
    for (size_t s = f->supernodes; s-- > 0;) {
        int columns = (int)(f->column[s + 1] - f->column[s]);
        int rows = (int)(f->row_start[s + 1] - f->row_start[s]), below = rows - columns;
        const size_t *row = f->row + f->row_start[s] + columns;
        const double *l = f->value + f->value_start[s];
        double *own = x + f->column[s];
        for (int i = 0; i < below; i++)
            work[i] = x[row[i]];
        if (below > 0)
            cblas_dgemv(CblasColMajor, CblasTrans, below, columns, -1, l + columns, rows, work, 1,
                        1, own, 1);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, columns, l, rows, own, 1);
    }
}

void vxs_supernodal_solve_many(const vxs_supernodal *f, double *x, size_t width, double *work)
{
    int count = (int)width;
    for (size_t s = 0; s < f->supernodes; s++) {
        size_t columns = f->column[s + 1] - f->column[s];
        size_t rows = f->row_start[s + 1] - f->row_start[s], below = rows - columns;
        const size_t *row = f->row + f->row_start[s] + columns;
        const double *l = f->value + f->value_start[s];
        double *own = x + f->column[s] * width;
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, count,
                    (int)columns, 1, l, (int)rows, own, count);
        if (below > 0)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, count, (int)below, (int)columns, 1,
                        own, count, l + columns, (int)rows, 0, work, count);
        for (size_t i = 0; i < below; i++)
            for (size_t m = 0; m < width; m++)
                x[row[i] * width + m] -= work[i * width + m];
    }
}
