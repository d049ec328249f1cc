#pragma once

#include "core/base/pattern.h"
#include "core/model/cel.h"
#include "core/model/semver.h"

/* Values and trees, shared by the reader (cel_read.c) and the evaluator (cel.c). */

enum cel_type {
    CEL_ERROR, /* `text` says which */
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_STRING,
    CEL_LIST,
    CEL_QUANTITY,
    CEL_SEMVER,
    CEL_OPTIONAL,
    CEL_DEVICE,  /* the variable */
    CEL_DOMAINS, /* its attributes or capacity: by domain */
    CEL_IDS,     /* those of the domain `text`: by id */
};

struct cel_value {
    enum cel_type type;
    bool is_capacity; /* of CEL_DOMAINS and CEL_IDS */
    union {
        bool yes;
        int64_t number;
        uint64_t natural;
        struct quantity quantity;
        struct semver semver;
        const struct cel_value *inner; /* of CEL_OPTIONAL; NULL: none */
        struct {
            const struct cel_value *at;
            uint32_t n;
        } list;
    };
    struct str text;
};

enum cel_op {
    OP_LITERAL,
    OP_DEVICE,
    OP_VARIABLE, /* number `slot`, of cel.bind */
    OP_LIST,
    OP_SELECT, /* name */
    OP_INDEX,
    OP_OPTIONAL_SELECT,
    OP_OPTIONAL_INDEX,
    OP_HAS,
    OP_BIND,
    OP_CALL, /* `call`; of a method, args[0] is what it is called on */
    OP_MATCHES,
    OP_NOT,
    OP_MINUS,
    OP_AND,
    OP_OR,
    OP_CHOOSE,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_AT_MOST,
    OP_GREATER,
    OP_AT_LEAST,
    OP_IN,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_MODULO,
};

struct cel_run;

/* A function or method. */
struct cel_call {
    struct str name;
    uint32_t n; /* of arguments, with what a method is called on */
    bool is_method;
    struct cel_value (*run)(struct cel_run *, const struct cel_value *args);
};

extern const struct cel_call cel_calls[];
extern const uint32_t n_cel_calls;

struct cel_node {
    enum cel_op op;
    uint32_t n, slot, depth;
    struct cel_node **args;
    struct str name;
    struct cel_value literal;
    const struct cel_call *call;
    const struct pattern *pattern;
};

enum { CEL_VARIABLES_MOST = 16 }; /* cel.bind inside cel.bind */

struct cel {
    const struct cel_node *root;
};
