/* rules - rules of the design, each of which can be put back to the obvious version.
 *
 * With a rule put back the driver must find a history in which the books are wrong: that is the
 * proof that it would see it. Scripts are changed as text, C code at the seam; the product has no
 * switch for it.
 */
#ifndef TOLLGATE_HISTORIES_RULES_H
#define TOLLGATE_HISTORIES_RULES_H

#include "common/redis/kv.h"

struct rules {
    bool endsweep;     /* a sweep is the end: charges what was earned */
    bool latesweep;    /* so, and a later bill charges the difference to it */
    bool anyfinal;     /* any daemon ends a lapsed hold, without knowing worker and spool */
    bool applier;      /* the applier does not compare epoch and run id in its transaction */
    bool nocreditpush; /* a credit is pushed once, by the console only */
    bool blindfinish;  /* a rebuild sets state on without comparing it */
    bool eqbegin;      /* a rebuild may begin with an epoch equal to what is there */
    bool noextend;     /* extend does not take a lost hold again */
    bool nowait;       /* the replay does not wait for the cursor, markers go with the journal */
    bool nodeadline;   /* scripts run however late */
    bool noepoch;      /* scripts look at "on" only */
    bool drop;         /* idle hashes are dropped */
    bool somescripts;  /* only reserve, settle and credit answer "rebuilding" */
    bool lease;        /* two rebuilds at once, without a larger epoch */
    bool giveback;     /* a settle does not look at the period of the deposit */
    bool fullbill;     /* it does, but the books hear of the whole bill */
    bool keptholds;    /* a reset leaves the open deposits of the old period out */
    bool nosettle;     /* a worker leaves one settle out, and its spool line */
};

/* False: there is no such rule. */
bool rules_put_back(struct rules *rules, const char *name);
const char *rules_name(size_t index); /* NULL behind the last */

/* The script with the history's clock instead of the server's, and with the rules put back. */
const struct tg_kv_script *rules_script(const struct rules *rules,
                                        const struct tg_kv_script *script);

#endif
