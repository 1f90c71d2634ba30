#include "CTrawlPAC.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* duktape is loaded when the first script comes, as few ever have one; prototypes take the place of its header, in the
 * types of its version 2 (soname 207). */

typedef struct duk_hthread duk_context;
typedef int (*function)(duk_context *context);

static struct {
    duk_context *(*create_heap)(
        void *(*allocate)(void *, size_t), void *(*reallocate)(void *, void *, size_t), void (*release)(void *, void *),
        void *owner, void (*fatal)(void *, const char *));
    void (*destroy_heap)(duk_context *);
    int (*push_c_function)(duk_context *, function, int);
    unsigned (*put_global_string)(duk_context *, const char *);
    unsigned (*get_global_string)(duk_context *, const char *);
    const char *(*push_lstring)(duk_context *, const char *, size_t);
    const char *(*get_lstring)(duk_context *, int, size_t *);
    int (*eval_raw)(duk_context *, const char *, size_t, unsigned);
    int (*pcall)(duk_context *, int);
    void (*set_top)(duk_context *, int);
    void (*get_memory_functions)(duk_context *, void *);
} duk;

struct cpac_engine {
    duk_context *context;
    cpac_ask ask;
    void *asked;
    size_t used;
    size_t limit;
    char answer[4096];
};

/* DUK_COMPILE_EVAL, _SAFE, _NORESULT, _NOSOURCE and _NOFILENAME. */
enum { EVALUATE = 1 << 3 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11 };

extern const char cpac_prelude[];

static int load(void) {
    if (duk.create_heap != NULL) {
        return 1;
    }
    void *handle = dlopen("libduktape.so.207", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return 0;
    }
    int complete = 1;
#define FIND(name) complete &= (*(void **)&duk.name = dlsym(handle, "duk_" #name)) != NULL
    FIND(destroy_heap);
    FIND(push_c_function);
    FIND(put_global_string);
    FIND(get_global_string);
    FIND(push_lstring);
    FIND(get_lstring);
    FIND(eval_raw);
    FIND(pcall);
    FIND(set_top);
    FIND(get_memory_functions);
    if (complete) {
        FIND(create_heap);
    }
#undef FIND
    return duk.create_heap != NULL;
}

/* Memory with its length before it, so that the script's use of it is known. */

typedef union {
    size_t length;
    _Alignas(16) char place[16];
} block;

static void *allocate(void *owner, size_t length) {
    cpac_engine *engine = owner;
    if (length == 0 || length > engine->limit - engine->used) {
        return NULL;
    }
    block *made = malloc(sizeof(block) + length);
    if (made == NULL) {
        return NULL;
    }
    made->length = length;
    engine->used += length;
    return made + 1;
}

static void release(void *owner, void *memory) {
    if (memory != NULL) {
        block *old = (block *)memory - 1;
        ((cpac_engine *)owner)->used -= old->length;
        free(old);
    }
}

static void *reallocate(void *owner, void *memory, size_t length) {
    if (memory == NULL) {
        return allocate(owner, length);
    }
    if (length == 0) {
        release(owner, memory);
        return NULL;
    }
    cpac_engine *engine = owner;
    block *old = (block *)memory - 1;
    size_t before = old->length;
    if (length > before && length - before > engine->limit - engine->used) {
        return NULL;
    }
    block *made = realloc(old, sizeof(block) + length);
    if (made == NULL) {
        return NULL;
    }
    made->length = length;
    engine->used += length - before;
    return made + 1;
}

static void fatal(void *owner, const char *message) {
    (void)owner;
    (void)message;
    /* EX_SOFTWARE: duktape must not be returned to. */
    _exit(70);
}

/* The engine of a context: what its memory functions were given. */
static cpac_engine *engine_of(duk_context *context) {
    struct {
        void *allocate, *reallocate, *release, *owner;
    } functions = {0};
    duk.get_memory_functions(context, &functions);
    return functions.owner;
}

/* ask(kind, text): the one thing a script can do beyond reckoning. */
static int ask(duk_context *context) {
    cpac_engine *engine = engine_of(context);
    size_t length = 0;
    const char *kind = duk.get_lstring(context, 0, &length);
    if (kind == NULL || length != 1) {
        return 0;
    }
    const char *text = duk.get_lstring(context, 1, &length);
    if (text == NULL || length > 1024 || memchr(text, 0, length) != NULL) {
        return 0;
    }
    int32_t count = engine->ask(engine->asked, *kind, text, engine->answer, sizeof engine->answer);
    if (count < 0 || (size_t)count >= sizeof engine->answer) {
        return 0;
    }
    duk.push_lstring(context, engine->answer, (size_t)count);
    return 1;
}

cpac_engine *cpac_open(size_t memory, cpac_ask answerer, void *context) {
    if (!load()) {
        return NULL;
    }
    cpac_engine *engine = calloc(1, sizeof(cpac_engine));
    if (engine == NULL) {
        return NULL;
    }
    engine->ask = answerer;
    engine->asked = context;
    engine->limit = memory;
    engine->context = duk.create_heap(allocate, reallocate, release, engine, fatal);
    if (engine->context == NULL) {
        free(engine);
        return NULL;
    }
    duk.push_c_function(engine->context, ask, 2);
    duk.put_global_string(engine->context, "__ask");
    if (cpac_run(engine, cpac_prelude, strlen(cpac_prelude)) != 0) {
        cpac_close(engine);
        return NULL;
    }
    return engine;
}

void cpac_close(cpac_engine *engine) {
    duk.destroy_heap(engine->context);
    free(engine);
}

int32_t cpac_run(cpac_engine *engine, const char *script, size_t length) {
    int result = duk.eval_raw(engine->context, script, length, EVALUATE);
    duk.set_top(engine->context, 0);
    return result == 0 ? 0 : -1;
}

int32_t cpac_find(cpac_engine *engine, const char *url, const char *host, char *result, size_t room) {
    duk_context *context = engine->context;
    duk.get_global_string(context, "FindProxyForURL");
    duk.push_lstring(context, url, strlen(url));
    duk.push_lstring(context, host, strlen(host));
    int32_t outcome = -1;
    if (room > 0 && duk.pcall(context, 2) == 0) {
        size_t length = 0;
        const char *text = duk.get_lstring(context, -1, &length);
        if (text != NULL) {
            length = length < room - 1 ? length : room - 1;
            memcpy(result, text, length);
            result[length] = 0;
            outcome = 0;
        }
    }
    duk.set_top(context, 0);
    return outcome;
}
