/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints an archive of the Open Trace Format 2, by the format's library: a line for
 * each communicator and each event, in their order, of words with tabs between them.
 *
 *   print_otf2 FOLDER/traces.otf2
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static char *strings[MOST];
static uint32_t sizes[MOST], members[MOST];
static OTF2_StringRef regions[MOST], comms[MOST], locations[MOST], processes[MOST];
static uint64_t all[MOST], n_all;

static void expect(OTF2_ErrorCode status)
{
    if (status != OTF2_SUCCESS) {
        fprintf(stderr, "%s\n", OTF2_Error_GetDescription(status));
        exit(1);
    }
}

static OTF2_CallbackCode take_string(void *state, OTF2_StringRef self, const char *text)
{
    (void)state;
    if (self < MOST) {
        strings[self] = strdup(text);
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_process(void *state, OTF2_LocationGroupRef self,
                                      OTF2_StringRef name, OTF2_LocationGroupType type,
                                      OTF2_SystemTreeNodeRef parent,
                                      OTF2_LocationGroupRef creator)
{
    (void)state;
    (void)type;
    (void)parent;
    (void)creator;
    processes[self] = name;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_location(void *state, OTF2_LocationRef self,
                                       OTF2_StringRef name, OTF2_LocationType type,
                                       uint64_t n_events, OTF2_LocationGroupRef group)
{
    (void)state;
    (void)name;
    (void)type;
    (void)n_events;
    locations[self] = processes[group];
    all[n_all++] = self;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_region(void *state, OTF2_RegionRef self,
                                     OTF2_StringRef name, OTF2_StringRef canonical,
                                     OTF2_StringRef description, OTF2_RegionRole role,
                                     OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
                                     OTF2_StringRef file, uint32_t begin, uint32_t end)
{
    (void)state;
    (void)canonical;
    (void)description;
    (void)role;
    (void)paradigm;
    (void)flags;
    (void)file;
    (void)begin;
    (void)end;
    regions[self] = name;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_group(void *state, OTF2_GroupRef self,
                                    OTF2_StringRef name, OTF2_GroupType type,
                                    OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                    uint32_t n, const uint64_t *of)
{
    (void)state;
    (void)name;
    (void)type;
    (void)paradigm;
    (void)flags;
    sizes[self] = n;
    members[self] = n > 0 ? (uint32_t)of[n - 1] : 0;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_comm(void *state, OTF2_CommRef self, OTF2_StringRef name,
                                   OTF2_GroupRef group, OTF2_CommRef parent,
                                   OTF2_CommFlag flags)
{
    (void)state;
    (void)parent;
    (void)flags;
    comms[self] = name;
    printf("comm\t%s\t%" PRIu32 "\t%" PRIu32 "\n", strings[name], sizes[group],
           members[group]);
    return OTF2_CALLBACK_SUCCESS;
}

static void begin(const char *what, OTF2_LocationRef location, OTF2_TimeStamp time)
{
    printf("%s\t%s\t%" PRIu64 "\t%" PRIu64, strings[locations[location]], what,
           location, time);
}

static OTF2_CallbackCode enter(OTF2_LocationRef location, OTF2_TimeStamp time,
                               void *state, OTF2_AttributeList *attributes,
                               OTF2_RegionRef region)
{
    OTF2_StringRef place = 0;

    (void)state;
    expect(OTF2_AttributeList_GetStringRef(attributes, 0, &place));
    begin("enter", location, time);
    printf("\t%s\t%s\n", strings[regions[region]], strings[place]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode leave(OTF2_LocationRef location, OTF2_TimeStamp time,
                               void *state, OTF2_AttributeList *attributes,
                               OTF2_RegionRef region)
{
    (void)state;
    (void)attributes;
    begin("leave", location, time);
    printf("\t%s\n", strings[regions[region]]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode sent(OTF2_LocationRef location, OTF2_TimeStamp time,
                              void *state, OTF2_AttributeList *attributes, uint32_t to,
                              OTF2_CommRef comm, uint32_t tag, uint64_t n_bytes)
{
    (void)state;
    (void)attributes;
    begin("sent", location, time);
    printf("\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\n", strings[comms[comm]], to,
           tag, n_bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode received(OTF2_LocationRef location, OTF2_TimeStamp time,
                                  void *state, OTF2_AttributeList *attributes,
                                  uint32_t from, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t n_bytes)
{
    (void)state;
    (void)attributes;
    begin("received", location, time);
    printf("\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\n", strings[comms[comm]], from,
           tag, n_bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode collective(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    void *state, OTF2_AttributeList *attributes,
                                    OTF2_CollectiveOp op, OTF2_CommRef comm,
                                    uint32_t root, uint64_t n_sent, uint64_t n_received)
{
    (void)state;
    (void)attributes;
    (void)root;
    (void)n_received;
    begin("collective", location, time);
    printf("\t%s\t%d\t%" PRIu64 "\n", strings[comms[comm]], (int)op, n_sent);
    return OTF2_CALLBACK_SUCCESS;
}

static void read_definitions(OTF2_Reader *reader)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    uint64_t n;

    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, take_string);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, take_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, take_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, take_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, take_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, take_comm);
    expect(
        OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, NULL));
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    expect(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n));
}

/* A location's own definitions must be read before its events, though there are
 * none. */
static void open_locations(OTF2_Reader *reader)
{
    uint64_t n;

    for (uint64_t i = 0; i < n_all; i++) {
        expect(OTF2_Reader_SelectLocation(reader, all[i]));
    }
    expect(OTF2_Reader_OpenDefFiles(reader));
    expect(OTF2_Reader_OpenEvtFiles(reader));
    for (uint64_t i = 0; i < n_all; i++) {
        OTF2_DefReader *its = OTF2_Reader_GetDefReader(reader, all[i]);

        expect(OTF2_Reader_ReadAllLocalDefinitions(reader, its, &n));
        expect(OTF2_Reader_CloseDefReader(reader, its));
        OTF2_Reader_GetEvtReader(reader, all[i]);
    }
    expect(OTF2_Reader_CloseDefFiles(reader));
}

static void read_events(OTF2_Reader *reader)
{
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReader *events;
    uint64_t n;

    open_locations(reader);
    events = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, leave);
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, sent);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(callbacks, received);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, collective);
    expect(OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, NULL));
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    expect(OTF2_Reader_ReadAllGlobalEvents(reader, events, &n));
    expect(OTF2_Reader_CloseGlobalEvtReader(reader, events));
    expect(OTF2_Reader_CloseEvtFiles(reader));
}

int main(int argc, char **argv)
{
    OTF2_Reader *reader = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;

    if (reader == NULL) {
        fprintf(stderr, "Usage: print_otf2 FOLDER/traces.otf2\n");
        return 2;
    }
    expect(OTF2_Reader_SetSerialCollectiveCallbacks(reader));
    read_definitions(reader);
    read_events(reader);
    expect(OTF2_Reader_Close(reader));
    for (size_t i = 0; i < MOST; i++) {
        free(strings[i]);
    }
    return 0;
}
