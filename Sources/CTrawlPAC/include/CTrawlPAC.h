/// Proxy scripts: a small engine around duktape, and the confinement of the process it runs in.
///
/// All of duktape's calls are made here and none by Swift: its errors leave functions by longjmp.
#ifndef CPAC_H
#define CPAC_H

#include <stddef.h>
#include <stdint.h>

typedef struct cpac_engine cpac_engine;

/// Answers a question of a script. `kind` is the letter the prelude asks with. Writes text of less than `room` bytes and
/// its zero, and returns its length, or below zero for none.
typedef int32_t (*cpac_ask)(void *context, int32_t kind, const char *text, char *answer, size_t room);

/// An engine whose scripts may use so many bytes; NULL when duktape is not on this system or there is no memory.
cpac_engine *cpac_open(size_t memory, cpac_ask ask, void *context);
void cpac_close(cpac_engine *engine);
/// Runs a script. 0, or -1 when it threw or is none.
int32_t cpac_run(cpac_engine *engine, const char *script, size_t length);
/// Calls FindProxyForURL. Writes what it returned, cut to less than `room` bytes, and a zero. 0, or -1 when it threw or
/// returned no text.
int32_t cpac_find(cpac_engine *engine, const char *url, const char *host, char *result, size_t room);

/// Takes from this process what a script has no use for: new privileges, files, other processes, the network. It can
/// still read and write what is open, take memory, and tell the time. 2; 1 when the kernel knows no seccomp filters, and
/// limits alone hold; -errno when not even that.
int32_t cpac_confine(void);
/// Ends this process when it is still at work after so many seconds; 0 takes it back.
void cpac_set_alarm(uint32_t seconds);

#endif
