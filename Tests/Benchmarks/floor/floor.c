/* The least a libcurl client can do: one multi handle on curl_multi_poll, a fixed number of easy handles, bodies
 * dropped or written to files. What the workers are measured against.
 *
 *   floor [-c CONNECTIONS] [-p PROCESSES] [-b RECEIVE_BUFFER] [-e ENTITY_TAG] [-d] LIST
 *
 * LIST has lines of "URL TAB FILE"; -d drops the bodies; -e asks whether the file still has that tag. Prints one JSON line with wall time and CPU per request. */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct item {
    char *url;
    char *path;
};

struct lane {
    CURL *handle;
    const struct item *item;
    int file;
};

static struct item *items;
static size_t item_count;
static int drops_bodies;
static long receive_buffer;
static long wanted_status = 200;
static struct curl_slist *fields;

static size_t take_body(char *bytes, size_t one, size_t count, void *context) {
    struct lane *lane = context;
    (void)one;
    if (drops_bodies) {
        return count;
    }
    if (lane->file < 0) {
        lane->file = open(lane->item->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (lane->file < 0) {
            return 0;
        }
    }
    size_t done = 0;
    while (done < count) {
        ssize_t written = write(lane->file, bytes + done, count - done);
        if (written <= 0) {
            return 0;
        }
        done += (size_t)written;
    }
    return count;
}

static size_t fetch_share(size_t first, size_t step, int connections) {
    CURLM *multi = curl_multi_init();
    struct lane *lanes = calloc((size_t)connections, sizeof *lanes);
    size_t next = first, failures = 0;
    int busy = 0, running = 0;
    for (int i = 0; i < connections; i++) {
        CURL *handle = curl_easy_init();
        lanes[i].handle = handle;
        lanes[i].file = -1;
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 1L);
        curl_easy_setopt(handle, CURLOPT_PROXY, "");
        curl_easy_setopt(handle, CURLOPT_PRIVATE, &lanes[i]);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &lanes[i]);
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
        if (receive_buffer > 0) {
            curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, receive_buffer);
        }
        if (next < item_count) {
            lanes[i].item = &items[next];
            curl_easy_setopt(handle, CURLOPT_URL, items[next].url);
            curl_multi_add_handle(multi, handle);
            next += step;
            busy++;
        }
    }
    while (busy > 0) {
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            struct lane *lane;
            long status = 0;
            CURL *handle = message->easy_handle;
            CURLcode result = message->data.result;
            curl_easy_getinfo(handle, CURLINFO_PRIVATE, &lane);
            curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
            failures += result != CURLE_OK || status != wanted_status;
            curl_multi_remove_handle(multi, handle);
            if (lane->file >= 0) {
                close(lane->file);
                lane->file = -1;
            }
            if (next < item_count) {
                lane->item = &items[next];
                curl_easy_setopt(handle, CURLOPT_URL, items[next].url);
                curl_multi_add_handle(multi, handle);
                next += step;
            } else {
                busy--;
            }
        }
        if (busy > 0) {
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
        }
    }
    for (int i = 0; i < connections; i++) {
        curl_easy_cleanup(lanes[i].handle);
    }
    curl_multi_cleanup(multi);
    free(lanes);
    return failures;
}

static void read_list(const char *path) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0, room = 0;
    ssize_t length;
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while ((length = getline(&line, &capacity, file)) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (item_count == room) {
            room = room ? room * 2 : 1024;
            items = realloc(items, room * sizeof *items);
        }
        char *tab = strchr(line, '\t');
        items[item_count].path = tab ? strdup(tab + 1) : NULL;
        if (tab) {
            *tab = 0;
        }
        items[item_count++].url = strdup(line);
    }
    free(line);
    fclose(file);
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
    int connections = 64, processes = 1, option;
    char field[128];
    while ((option = getopt(argc, argv, "c:p:b:e:d")) != -1) {
        switch (option) {
        case 'c': connections = atoi(optarg); break;
        case 'p': processes = atoi(optarg); break;
        case 'b': receive_buffer = atol(optarg); break;
        case 'e':
            snprintf(field, sizeof field, "If-None-Match: %s", optarg);
            fields = curl_slist_append(NULL, field);
            wanted_status = 304;
            break;
        case 'd': drops_bodies = 1; break;
        default: return 2;
        }
    }
    if (optind >= argc || connections < 1 || processes < 1) {
        return 2;
    }
    read_list(argv[optind]);
    double start = seconds(), before = cpu(RUSAGE_SELF);
    size_t failures = 0;
    if (processes == 1) {
        failures = fetch_share(0, 1, connections);
    } else {
        for (int i = 0; i < processes; i++) {
            if (fork() == 0) {
                _exit(fetch_share((size_t)i, (size_t)processes, connections / processes) != 0);
            }
        }
        int status;
        while (wait(&status) > 0) {
            failures += status != 0;
        }
    }
    double wall = seconds() - start, used = cpu(RUSAGE_SELF) - before + cpu(RUSAGE_CHILDREN);
    printf("{\"requests\":%zu,\"failures\":%zu,\"wall\":%f,\"perSecond\":%f,\"microseconds\":%f}\n", item_count,
           failures, wall, (double)item_count / wall, used / (double)item_count * 1e6);
    return failures != 0;
}
