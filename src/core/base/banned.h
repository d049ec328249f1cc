#pragma once

/* Calls that have no place in our code become compile errors. Included by the build on every
 * command line, after the system headers that declare them. `core/` is also denied what reads the
 * world. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef alloca /* a macro in glibc */
#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets atoi atol atoll alloca

#ifdef KUBENEXUS_PURE
#pragma GCC poison time clock_gettime gettimeofday rand random srand getenv printf fprintf puts
#endif
