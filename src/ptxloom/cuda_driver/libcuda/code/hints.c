/* Attributes of launches and graph nodes without effect here: they are stored, and returned on request. */
#include <string.h>

#include "code/attributes.h"

enum { LEAST_PRIORITY = -5, MOST_CARVEOUT = 100, PERSISTING = 2 };

static int keep_window(struct hints *hints, const void *value) {
    struct hints wanted;
    memcpy(&wanted.window, value, sizeof wanted.window);
    if (!(wanted.window.ratio >= 0 && wanted.window.ratio <= 1) || wanted.window.miss == PERSISTING) return INVALID_VALUE;
    hints->window = wanted.window;
    return SUCCESS;
}

static int keep_domains(struct hints *hints, const unsigned char *domains) {
    if (domains[0] > 1 || domains[1] > 1) return INVALID_VALUE;
    memcpy(hints->domains, domains, sizeof hints->domains);
    return SUCCESS;
}

static int keep(int *place, int number, int least, int most) {
    if (number < least || number > most) return INVALID_VALUE;
    *place = number;
    return SUCCESS;
}

int hint_of(struct hints *hints, enum attribute attribute, const void *value) {
    int number;
    memcpy(&number, value, sizeof number);
    switch (attribute) {
    case WINDOW: return keep_window(hints, value);
    case POLICY: hints->policy = number; return SUCCESS;
    case PRIORITY: hints->priority = number > 0 ? 0 : number < LEAST_PRIORITY ? LEAST_PRIORITY : number; return SUCCESS;
    case MEMORY_DOMAIN_MAP: return keep_domains(hints, value);
    case MEMORY_DOMAIN: return keep(&hints->domain, number, 0, 1);
    case CARVEOUT: return keep(&hints->carveout, number, 0, MOST_CARVEOUT);
    default: return NOT_FOUND;
    }
}
