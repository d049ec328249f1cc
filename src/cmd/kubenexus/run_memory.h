#pragma once

/* Gives back what only the beginning needed: code and tables of libraries (for handshakes,
 * certificates, files), and room that reading lists took. Pages of code are mapped from files, so
 * what is needed again comes back by itself. */
void run_memory_settle(void);
