/* fastcgi - the console as a FastCGI server: a parent, and children that serve one at a time.
 *
 * SIGTERM and SIGINT end it once the requests that run are answered; SIGHUP replaces the children
 * by such that have read the configuration again. A child that ends is replaced (not faster than
 * once a second); each ends by itself after 1,000 requests.
 *
 * Threads  none: processes.  Blocks  until it is told to end.
 */
#ifndef TOLLGATE_WEB_FASTCGI_H
#define TOLLGATE_WEB_FASTCGI_H

enum { WEB_CHILDREN_MOST = 64 };

struct web_fastcgi {
    const char *address; /* unix:PATH or tcp:HOST:PORT; NULL: descriptor 0 listens */
    int children;        /* 1 to WEB_CHILDREN_MOST */
};

/* The exit code. */
int web_fastcgi_run(const struct web_fastcgi *options);

#endif
