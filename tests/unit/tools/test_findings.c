/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Documents of findings: what is read of lines, and what each form makes of it. The
 * lines are written here, as the processes of a job write them.
 */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tools/findings/findings.h"
#include "tests/unit/run_suite.h"

static const char *const names[FINDINGS_FORMS] = {"found.json", "found.sarif",
                                                  "found.xml"};
static char folder[64], error[FINDINGS_ERROR_BYTES];
static struct findings_files files;
static const char *const command[] = {"bcsrun", "-n", "2", "./a \"b\"\xff", NULL};
static struct findings_run run;

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "/tmp/test_findings.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(mkdir("lines", S_IRWXU), 0);
    for (int i = 0; i < FINDINGS_FORMS; i++) {
        ck_assert_int_eq(findings_check(names[i], files.paths[i], error), 0);
    }
    run = (struct findings_run){.command = (char *const *)(uintptr_t)command,
                                .program = command[3],
                                .mpi = "Open MPI",
                                .n_ranks = 2,
                                .began_s = 1,
                                .seconds = 2.5};
}

static void tear_down(void)
{
    for (int i = 0; i < FINDINGS_FORMS; i++) {
        unlink(names[i]);
    }
    unlink("lines/a.findings");
    unlink("lines/b.findings");
    rmdir("lines");
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is left */
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "ae");

    fputs(text, file);
    fclose(file);
}

static void write_all(void)
{
    ck_assert_int_eq(findings_write(&files, "lines", &run, error), 0);
}

static json_t *load(enum findings_form form)
{
    json_error_t why;
    json_t *document = json_load_file(names[form], 0, &why);

    ck_assert_msg(document != NULL, "%s", why.text);
    return document;
}

/* The whole of a document, for free. */
static char *text_of(enum findings_form form)
{
    FILE *file = fopen(names[form], "re");
    char *text = calloc(1, 1 << 16);

    ck_assert_ptr_nonnull(file);
    fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static const char *string_at(const json_t *document, const char *first,
                             const char *second)
{
    const json_t *part = json_object_get(document, first);

    return json_string_value(second == NULL ? part : json_object_get(part, second));
}

START_TEST(without_findings_the_documents_are_empty)
{
    json_t *own, *sarif;
    char *junit;

    write_all();
    own = load(FINDINGS_JSON);
    ck_assert_str_eq(string_at(own, "format", NULL), "bcs-findings 1");
    ck_assert_uint_eq(json_array_size(json_object_get(own, "findings")), 0);
    ck_assert_str_eq(string_at(own, "run", "ended"), "exit");
    ck_assert_str_eq(string_at(own, "run", "program"), "./a \"b\"\xef\xbf\xbd");
    ck_assert_str_eq(string_at(own, "run", "began"), "1970-01-01T00:00:01Z");
    sarif = load(FINDINGS_SARIF);
    ck_assert_uint_eq(
        json_array_size(json_object_get(
            json_array_get(json_object_get(sarif, "runs"), 0), "results")),
        0);
    junit = text_of(FINDINGS_JUNIT);
    ck_assert_ptr_nonnull(strstr(junit, "failures=\"0\" errors=\"0\""));
    ck_assert_ptr_nonnull(strstr(junit, " name=\"./a &quot;b&quot;\xef\xbf\xbd\""));
    ck_assert_ptr_null(strstr(junit, "<system-out>"));
    free(junit);
    json_decref(sarif);
    json_decref(own);
}
END_TEST

START_TEST(a_status_without_findings_is_an_error)
{
    json_t *own;
    char *junit;

    run.status = 139;
    ck_assert_int_eq(findings_write(&files, NULL, &run, error), 0);
    own = load(FINDINGS_JSON);
    ck_assert_str_eq(string_at(own, "run", "ended"), "signal");
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(own, "run"), "signal")), 11);
    junit = text_of(FINDINGS_JUNIT);
    ck_assert_ptr_nonnull(strstr(junit, "failures=\"0\" errors=\"1\""));
    ck_assert_ptr_nonnull(
        strstr(junit, "<error type=\"signal\" message=\"the job ended with exit status "
                      "139 (signal 11)\"/>"));
    free(junit);
    json_decref(own);
}
END_TEST

START_TEST(how_a_run_was_ended_comes_before_its_status)
{
    json_t *own;

    run.status = 137;
    run.is_interrupted = true;
    write_all();
    own = load(FINDINGS_JSON);
    ck_assert_str_eq(string_at(own, "run", "ended"), "interrupted");
    json_decref(own);
    run.is_killed = true;
    write_all();
    own = load(FINDINGS_JSON);
    ck_assert_str_eq(string_at(own, "run", "ended"), "killed");
    json_decref(own);
}
END_TEST

/* The only result of the SARIF. */
static json_t *result_of(json_t *sarif)
{
    json_t *results =
        json_object_get(json_array_get(json_object_get(sarif, "runs"), 0), "results");

    ck_assert_uint_eq(json_array_size(results), 1);
    return json_array_get(results, 0);
}

static const char *uri_of(json_t *locations, size_t i)
{
    json_t *physical =
        json_object_get(json_array_get(locations, i), "physicalLocation");

    return string_at(physical, "artifactLocation", "uri");
}

START_TEST(places_are_locations)
{
    char line[1024];
    json_t *own, *sarif, *result, *place, *related;

    snprintf(
        line, sizeof(line),
        "{\"kind\": \"deadlock\", \"message\": \"m\", \"ranks\": [0, 1], \"places\": "
        "[{\"ranks\": [1], \"call\": \"MPI_Recv\"}, {\"ranks\": [0], \"call\": "
        "\"MPI_Send\", \"function\": \"f\", \"file\": \"%s/x/../a b%%.c\", \"line\": "
        "7, \"callers\": [{\"function\": \"main\", \"file\": \"/other/./m.c\", "
        "\"line\": 9}]}]}\n",
        folder);
    put("lines/a.findings", line);
    run.status = 86;
    write_all();
    own = load(FINDINGS_JSON);
    place = json_array_get(
        json_object_get(json_array_get(json_object_get(own, "findings"), 0), "places"),
        1);
    ck_assert_str_eq(string_at(place, "file", NULL), "a b%.c");
    sarif = load(FINDINGS_SARIF);
    result = result_of(sarif);
    ck_assert_str_eq(uri_of(json_object_get(result, "locations"), 0), "a%20b%25.c");
    related = json_object_get(result, "relatedLocations");
    ck_assert_uint_eq(json_array_size(related), 1);
    ck_assert_str_eq(uri_of(related, 0), "file:///other/m.c");
    ck_assert_str_eq(string_at(json_array_get(related, 0), "message", "text"),
                     "called from here: rank 0: MPI_Send");
    json_decref(sarif);
    json_decref(own);
}
END_TEST

START_TEST(a_finding_without_a_place_is_at_the_program)
{
    json_t *sarif;

    put("lines/a.findings", "{\"kind\": \"absence\", \"message\": \"m\"}\n");
    write_all();
    sarif = load(FINDINGS_SARIF);
    ck_assert_str_eq(uri_of(json_object_get(result_of(sarif), "locations"), 0),
                     "./a%20%22b%22%FF");
    json_decref(sarif);
}
END_TEST

START_TEST(the_status_of_a_kind_is_taken_from_the_run)
{
    static const int statuses[] = {87, 0, 15};

    put("lines/a.findings", "{\"kind\": \"misuse\", \"message\": \"m\"}\n");
    for (int i = 0; i < 3; i++) {
        json_t *own, *status;

        run.status = statuses[i];
        write_all();
        own = load(FINDINGS_JSON);
        status = json_object_get(json_array_get(json_object_get(own, "findings"), 0),
                                 "status");
        ck_assert_int_eq(json_integer_value(status), i == 0 ? 87 : 0);
        ck_assert(i == 0 || status == NULL);
        json_decref(own);
    }
}
END_TEST

START_TEST(what_is_no_finding_is_counted)
{
    json_t *own, *findings;

    put("lines/a.findings",
        "nonsense\n[]\n{\"kind\": 1, \"message\": \"m\"}\n"
        "{\"kind\": \"leak\"}\n{\"kind\": \"leak\", \"message\": "
        "\"\xff\"}\n{\"kind\": \"other\", \"message\": \"m\"}\n"
        "{\"kind\": \"leak\", \"message\": \"m\", \"ranks\": [3, 1, "
        "\"x\", 4, -1], \"places\": 7, \"status\": 999}\n"
        "{\"kind\": \"leak\", \"mess");
    write_all();
    own = load(FINDINGS_JSON);
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(own, "run"), "unreadable")),
        7);
    findings = json_object_get(own, "findings");
    ck_assert_uint_eq(json_array_size(findings), 1);
    ck_assert_uint_eq(
        json_array_size(json_object_get(json_array_get(findings, 0), "ranks")), 2);
    ck_assert_ptr_null(json_object_get(json_array_get(findings, 0), "status"));
    json_decref(own);
}
END_TEST

START_TEST(junit_has_no_character_that_xml_forbids)
{
    char *junit;

    put("lines/a.findings",
        "{\"kind\": \"misuse\", \"message\": \"<&\\u0001\\n>\", \"text\": "
        "\"a]]>\\ufffe\\uffff\\ufffd\\ud83d\\ude00\\r\"}\n"
        "{\"kind\": \"leak\", \"message\": \"w<\"}\n");
    run.status = 87;
    write_all();
    junit = text_of(FINDINGS_JUNIT);
    ck_assert_ptr_nonnull(strstr(junit, "failures=\"1\" errors=\"0\""));
    ck_assert_ptr_nonnull(strstr(
        junit, "<failure type=\"misuse\" "
               "message=\"&lt;&amp;\xef\xbf\xbd&#10;&gt;\">a]]&gt;\xef\xbf\xbd"
               "\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd</failure>"));
    ck_assert_ptr_nonnull(strstr(junit, "<system-out>w&lt;</system-out>"));
    ck_assert_ptr_null(strstr(junit, "<error"));
    free(junit);
}
END_TEST

START_TEST(many_findings_of_several_machines_are_all_there)
{
    enum { N = 2000 };
    json_t *own, *sarif;

    for (int i = 0; i < N; i++) {
        char line[128];

        snprintf(line, sizeof(line), "{\"kind\": \"leak\", \"message\": \"%d\"}\n", i);
        put(i % 2 == 0 ? "lines/a.findings" : "lines/b.findings", line);
    }
    write_all();
    own = load(FINDINGS_JSON);
    ck_assert_uint_eq(json_array_size(json_object_get(own, "findings")), N);
    sarif = load(FINDINGS_SARIF);
    ck_assert_uint_eq(
        json_array_size(json_object_get(
            json_array_get(json_object_get(sarif, "runs"), 0), "results")),
        N);
    json_decref(sarif);
    json_decref(own);
}
END_TEST

START_TEST(what_cannot_be_written_is_known_before)
{
    char path[PATH_MAX];

    ck_assert_int_eq(findings_check("", path, error), -EINVAL);
    ck_assert_int_eq(findings_check("none/a.json", path, error), -ENOENT);
    ck_assert_ptr_nonnull(strstr(error, "cannot write none/a.json: No such file"));
    ck_assert_int_eq(findings_check("lines", path, error), -EINVAL);
    ck_assert_int_eq(findings_check("/dev/null", path, error), -EINVAL);
}
END_TEST

START_TEST(a_document_is_whole_or_not_there)
{
    put("found.json", "as it was");
    strcpy(files.paths[FINDINGS_SARIF], "none/found.sarif");
    ck_assert_int_eq(findings_write(&files, "lines", &run, error), -ENOENT);
    ck_assert_ptr_nonnull(strstr(error, "cannot write none/found.sarif: No such file"));
    ck_assert_int_eq(access(names[FINDINGS_SARIF], F_OK), -1);
    ck_assert_int_eq(access(names[FINDINGS_JUNIT], F_OK),
                     0); /* the others are written */
    json_decref(load(FINDINGS_JSON));
}
END_TEST

START_TEST(what_cannot_take_its_name_is_removed)
{
    strcpy(files.paths[FINDINGS_JSON], "lines"); /* a folder by now */
    ck_assert_int_eq(findings_write(&files, "lines", &run, error), -EISDIR);
    ck_assert_ptr_nonnull(strstr(error, "cannot write lines: Is a directory"));
}
END_TEST

START_TEST(a_link_stays_and_its_file_is_replaced)
{
    struct stat status;

    put("lines/b.findings", "old");
    ck_assert_int_eq(symlink("lines/b.findings", names[FINDINGS_JSON]), 0);
    ck_assert_int_eq(
        findings_check(names[FINDINGS_JSON], files.paths[FINDINGS_JSON], error), 0);
    ck_assert_int_eq(findings_write(&files, NULL, &run, error), 0);
    ck_assert_int_eq(lstat(names[FINDINGS_JSON], &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    json_decref(load(FINDINGS_JSON));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("findings");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, without_findings_the_documents_are_empty);
    tcase_add_test(tcase, a_status_without_findings_is_an_error);
    tcase_add_test(tcase, how_a_run_was_ended_comes_before_its_status);
    tcase_add_test(tcase, places_are_locations);
    tcase_add_test(tcase, a_finding_without_a_place_is_at_the_program);
    tcase_add_test(tcase, the_status_of_a_kind_is_taken_from_the_run);
    tcase_add_test(tcase, what_is_no_finding_is_counted);
    tcase_add_test(tcase, junit_has_no_character_that_xml_forbids);
    tcase_add_test(tcase, many_findings_of_several_machines_are_all_there);
    tcase_add_test(tcase, what_cannot_be_written_is_known_before);
    tcase_add_test(tcase, a_document_is_whole_or_not_there);
    tcase_add_test(tcase, what_cannot_take_its_name_is_removed);
    tcase_add_test(tcase, a_link_stays_and_its_file_is_replaced);
    return run_tcase("findings", tcase);
}
