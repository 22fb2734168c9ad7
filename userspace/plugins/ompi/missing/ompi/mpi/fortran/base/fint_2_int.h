/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Debian's libopenmpi-dev lacks this header, too. Its Fortran's INTEGER is an
 * int.
 */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#define OMPI_INT_2_FINT(a)	(a)
#define OMPI_FINT_2_INT(a)	(a)

#endif
