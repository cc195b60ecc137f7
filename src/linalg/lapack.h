/* lapack.h - declarations of the LAPACK routines in use: matrices are column-major, `info` holds
 * the return code. */
#ifndef VXS_LINALG_LAPACK_H
#define VXS_LINALG_LAPACK_H

void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivot, double *b,
            const int *ldb, int *info);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info);
void dorglq_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info);
void dpstrf_(const char *uplo, const int *n, double *a, const int *lda, int *pivot, int *rank,
             const double *tol, double *work, int *info);

#endif
