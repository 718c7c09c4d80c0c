/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for places; see place.h. A child for each file of code reads it (reader.h),
 * by place_file.h, and makes the words: it is the only process that opens the file, or
 * that has libdw or the C++ library look at what is in it. It answers at once with the
 * function, and then with the line.
 *
 * A child that does not answer in time is ended, and another one is asked for functions
 * only, for which some time is kept: they come from the symbols of the file itself. A
 * file that does not even give these is not read again.
 *
 * Answers are kept: a child is asked for each place once, not for each event there.
 */
#include "mds/source/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mds/source/demangle.h"
#include "mds/source/place_file.h"
#include "mds/source/reader.h"

enum { CODES_MOST = 8, ID_BYTES = 64, ANSWERS = 127 };

/** The texts of an answer. */
enum { WORDS, FUNCTION, SOURCE, LINE, LACKS_LINES, PARTS };

/** What a child is asked. */
struct question {
    uint64_t address;
    uint32_t n_id_bytes;
    uint8_t id[ID_BYTES];
    uint8_t wants_line;
    uint8_t depth; /* see place_describe_around */
};

/** What a child has answered, and its question. */
struct answered {
    struct question question;
    char answer[]; /* PARTS texts, each ended by a zero */
};

/** A file of code. */
struct code {
    char *path;                         /* NULL: free */
    struct answered *answered[ANSWERS]; /* by address; the last one of its slot */
    struct reader *reader;
    bool has_no_lines; /* in time */
    bool is_lost;      /* nothing is known of it in time */
};

/** A text that was handed out. */
struct text {
    struct text *next;
    char bytes[];
};

struct places {
    uint64_t patience_ns;
    uint64_t lines_ns, functions_ns; /* for which may still be waited */
    struct code codes[CODES_MOST];
    uint32_t n_used; /* codes ever opened */
    struct text *texts;
};

const char *place_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

/* ---- in the child
 * --------------------------------------------------------------------- */

/** A file, in its child. */
struct served {
    const char *path;
    struct place_file *file; /* NULL: it cannot be read */
    struct demangler demangler;
    bool is_open;
};

static void print_unknown(FILE *out, const char *path, uint64_t address,
                          const char *why)
{
    fprintf(out, "0x%" PRIx64 " in %s%s", address, place_last_part(path), why);
}

/** The words for a place, and behind them the other parts of an answer. */
static void print_place(FILE *out, const struct served *served,
                        const struct place *place)
{
    char *function = demangle(&served->demangler, place->function);

    fprintf(out, "%s", function == NULL ? "?" : function);
    if (place->line > 0) {
        fprintf(out, ", %s:%d", place_last_part(place->file), place->line);
    } else {
        fprintf(out, "+0x%" PRIx64 ", %s", place->offset,
                place_last_part(served->path));
    }
    fprintf(out, "%c%s%c%s%c%d%c%s%c", 0,
            place->function == NULL ? "" : place->function, 0,
            place->file == NULL ? "" : place->file, 0, place->line, 0,
            place->lacks_lines ? "1" : "", 0);
    free(function);
}

/** Answer with a place; without one, with what stands against it. */
static void answer(const struct served *served, int answers, bool is_last,
                   uint64_t address, const struct place *place, const char *why)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);

    if (out != NULL) {
        if (place != NULL) {
            print_place(out, served, place);
        } else {
            print_unknown(out, served->path, address, why);
        }
        if (fclose(out) == 0) {
            reader_tell(answers, is_last, text, n_bytes);
        }
        free(text);
    }
}

/** Answer with the function that calls, and then with its line. */
static void serve_innermost(const struct served *served,
                            const struct question *question, int answers)
{
    uint64_t address = question->address;
    struct place place = {0};
    bool is_known = place_file_function(served->file, address, &place);

    if (question->wants_line) {
        answer(served, answers, false, address, is_known ? &place : NULL, "");
        is_known = place_file_line(served->file, address, 0, &place);
        place.lacks_lines = place.line == 0;
    }
    answer(served, answers, true, address, is_known ? &place : NULL, "");
}

/** Answer with a function further out, and where it has the one before; with nothing if
 *  there is none. */
static void serve_around(const struct served *served, const struct question *question,
                         bool is_readable, int answers)
{
    struct place place = {0};

    if (is_readable &&
        place_file_line(served->file, question->address, question->depth, &place)) {
        answer(served, answers, true, question->address, &place, "");
    } else {
        reader_tell(answers, true, "", 0);
    }
}

static void serve(void *arg, const char *bytes, size_t n_bytes, int answers)
{
    struct served *served = arg;
    struct question question;
    bool is_readable;

    if (n_bytes != sizeof(question)) {
        return;
    }
    memcpy(&question, bytes, sizeof(question));
    if (!served->is_open) {
        served->is_open = true;
        served->file = place_file_open(served->path);
        served->demangler = demangler_open();
    }
    is_readable = served->file != NULL &&
                  place_file_is(served->file, question.id, question.n_id_bytes);
    if (question.depth > 0) {
        serve_around(served, &question, is_readable, answers);
    } else if (is_readable) {
        serve_innermost(served, &question, answers);
    } else {
        answer(served, answers, true, question.address, NULL,
               served->file == NULL ? "" : ", which has changed since");
    }
}

/* ---- in the parent
 * -------------------------------------------------------------------- */

struct places *place_open(uint64_t patience_ns)
{
    struct places *places = calloc(1, sizeof(*places));

    if (places != NULL) {
        places->patience_ns = patience_ns;
        place_renew(places);
    }
    return places;
}

void place_renew(struct places *places)
{
    if (places != NULL) {
        places->lines_ns = places->patience_ns / 4 * 3;
        places->functions_ns = places->patience_ns / 5;
    }
}

static void close_code(struct code *code)
{
    reader_end(code->reader);
    free(code->path);
    for (int i = 0; i < ANSWERS; i++) {
        free(code->answered[i]);
    }
    *code = (struct code){0};
}

void place_close(struct places *places)
{
    if (places == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CODES_MOST; i++) {
        close_code(&places->codes[i]);
    }
    while (places->texts != NULL) {
        struct text *next = places->texts->next;

        free(places->texts);
        places->texts = next;
    }
    free(places);
}

/** The file of a path, in the place of the oldest one if need be. @return NULL: no
 *  memory */
static struct code *find_code(struct places *places, const char *path)
{
    struct code *code;

    for (uint32_t i = 0; i < CODES_MOST; i++) {
        if (places->codes[i].path != NULL && strcmp(places->codes[i].path, path) == 0) {
            return &places->codes[i];
        }
    }
    code = &places->codes[places->n_used++ % CODES_MOST];
    close_code(code);
    code->path = strdup(path);
    return code->path == NULL ? NULL : code;
}

static bool is_same(const struct question *a, const struct question *b)
{
    return a->address == b->address && a->wants_line == b->wants_line &&
           a->depth == b->depth && a->n_id_bytes == b->n_id_bytes &&
           memcmp(a->id, b->id, sizeof(a->id)) == 0;
}

/** The bytes of an answer up to the end of its last part. */
static size_t length_of(const char *answer)
{
    size_t n_bytes = 0;

    for (int i = 0; i < PARTS && n_bytes < READER_ANSWER_BYTES; i++) {
        n_bytes += strlen(answer + n_bytes) + 1;
    }
    return n_bytes;
}

/** Keep an answer, in place of the one before it in its slot, if there is memory. */
static void keep_answer(struct answered **slot, const struct question *question,
                        const char answer[READER_ANSWER_BYTES])
{
    size_t n_bytes = length_of(answer);

    free(*slot);
    *slot = malloc(sizeof(**slot) + n_bytes);
    if (*slot != NULL) {
        (*slot)->question = *question;
        memcpy((*slot)->answer, answer, n_bytes);
    }
}

/** Ask the child of a file, a new one if there is none. It is not asked again what it
 *  has answered. @return whether the answer is the last */
static bool ask(struct code *code, const struct question *question, uint64_t *left_ns,
                char answer_out[READER_ANSWER_BYTES])
{
    struct answered **slot =
        &code->answered[(question->address + question->depth) % ANSWERS];
    bool is_last = false;

    if (*slot != NULL && is_same(&(*slot)->question, question)) {
        memcpy(answer_out, (*slot)->answer, length_of((*slot)->answer));
        return true;
    }
    if (code->reader == NULL) {
        struct served served = {.path = code->path};

        code->reader = reader_start(serve, &served);
    }
    answer_out[0] = '\0';
    if (code->reader != NULL) {
        is_last = reader_ask(code->reader, (const char *)question, sizeof(*question),
                             answer_out, left_ns);
    }
    if (is_last) {
        keep_answer(slot, question, answer_out);
    } else {
        reader_end(code->reader);
        code->reader = NULL;
    }
    return is_last;
}

/** Find the words for a place in a file, as well as can be in time. @param answer_out
 *  "": none */
static void find(struct places *places, const struct place_module *module,
                 uint64_t address, uint8_t depth, char answer_out[READER_ANSWER_BYTES])
{
    struct question question = {
        .address = address, .n_id_bytes = module->n_id_bytes, .depth = depth};
    struct code *code = find_code(places, module->path);

    memset(answer_out, 0, READER_ANSWER_BYTES);
    if (code == NULL || code->is_lost) {
        return;
    }
    if (module->n_id_bytes > 0) {
        memcpy(question.id, module->id,
               module->n_id_bytes < ID_BYTES ? module->n_id_bytes : ID_BYTES);
    }
    question.wants_line = !code->has_no_lines && places->lines_ns > 0;
    if (question.wants_line) {
        code->has_no_lines = !ask(code, &question, &places->lines_ns, answer_out);
        if (!code->has_no_lines || answer_out[0] != '\0') {
            return;
        }
        question.wants_line = false;
    }
    if (depth > 0) {
        return; /* symbols know of no other function there */
    }
    code->is_lost = !ask(code, &question, &places->functions_ns, answer_out);
}

/** Keep a text. @return NULL: there is none, or no memory */
static const char *keep(struct places *places, const char *bytes)
{
    size_t n_bytes = strlen(bytes) + 1;
    struct text *text = n_bytes == 1 ? NULL : malloc(sizeof(*text) + n_bytes);

    if (text == NULL) {
        return NULL;
    }
    memcpy(text->bytes, bytes, n_bytes);
    text->next = places->texts;
    places->texts = text;
    return text->bytes;
}

/** The place that an answer has behind its words. */
static struct place place_of(struct places *places, const char *answer)
{
    const char *parts[PARTS], *end = answer + READER_ANSWER_BYTES - 1;

    for (int i = 0; i < PARTS; i++) {
        parts[i] = answer;
        answer += strlen(answer);
        answer += answer < end;
    }
    return (struct place){
        .function = keep(places, parts[FUNCTION]),
        .file = keep(places, parts[SOURCE]),
        .line = atoi(parts[LINE]),
        .lacks_lines = *parts[LACKS_LINES] != '\0',
    };
}

/** What is said of an address without reading anything. */
static void print_address(FILE *out, const struct place_module *module,
                          uint64_t address)
{
    if (address == 0) {
        fprintf(out, "elsewhere");
    } else if (module->path == NULL) {
        fprintf(out, "0x%" PRIx64 " in no file", address);
    } else {
        print_unknown(out, module->path, address, "");
    }
}

char *place_describe_around(struct places *places, const struct place_module *module,
                            uint64_t address, uint8_t depth, struct place *place_out)
{
    char answer[READER_ANSWER_BYTES] = "";
    char *text = NULL;
    size_t n_bytes;
    FILE *out;

    if (address != 0 && module->path != NULL) {
        find(places, module, address, depth, answer);
    }
    if (place_out != NULL) {
        *place_out = place_of(places, answer);
    }
    if (answer[0] != '\0') {
        return strdup(answer);
    }
    if (depth > 0) {
        return NULL;
    }
    out = open_memstream(&text, &n_bytes);
    if (out != NULL) {
        print_address(out, module, address);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    return text;
}

char *place_describe(struct places *places, const struct place_module *module,
                     uint64_t address, struct place *place_out)
{
    return place_describe_around(places, module, address, 0, place_out);
}
