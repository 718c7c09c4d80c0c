/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of deadlocks.c that stand in its other files, and what these share. */
#ifndef TESTS_SYSTEM_DEADLOCKS_H
#define TESTS_SYSTEM_DEADLOCKS_H

/** Compute for so many milliseconds. */
void compute(int ms);

/** Rank 0 waits for 149 messages of the last rank, which computes, and for one of rank
 *  1, which waits for it. */
void last_of_many_receives(void);

/** Rank 0 waits for any of a hundred messages of others, who wait for it. */
void any_of_many_receives(void);

/** The same, but the last message comes late. */
void late_one_of_many(void);

/** Each rank takes another one for the root of twelve broadcasts. */
void broadcasts_of_other_roots(void);

/** A long send goes on without a handle, and nobody receives it. */
void send_without_request(void);

/** The same of one that is buffered, as its buffer is detached. */
void send_from_buffer(void);

/** All wait for each other by a communicator that has been freed meanwhile. */
void receives_on_freed_communicator(void);

/** All wait for one of two messages at least, of others who wait, too. */
void all_wait_for_some(void);

/** Rank 0 waits for one of two messages at least: one of rank 1, which waits for it,
 *  and a late one of the last rank. */
void late_one_of_some(void);

/** All wait for each other, the last rank long after the others, and after a barrier to
 *  which it came late. */
void last_one_comes_late(void);

/** The first and the last rank wait for each other while long messages are under
 *  way. */
void late_end_of_long_messages(void);

/** Two groups wait for each other's first member. */
void both_groups_receive(void);

/** Rank 0 has a message of rank 1 from a matched probe, and receives another one. */
void probed_and_not_received(void);

/** Rank 0 has a long message of rank 1 from a matched probe, and ends. */
void probed_and_finalized(void);

/** Sends of all kinds and lengths are taken back, to another rank and to oneself; those
 *  beside them arrive. */
void cancelled_sends(void);

/** The same many times, while the receiver computes, and while it waits. */
void cancelled_again_and_again(void);

/** Sends that somebody has taken, so that they are not taken back. */
void cancelled_too_late(void);

/** All but the last rank make a communicator; that one waits for rank 0. */
void one_does_not_duplicate(void);

/** The same of a window. */
void one_makes_no_window(void);

/** Half of the ranks make one of both, and wait for each other. */
void one_does_not_split_a_part(void);

/** The last rank comes late to what makes communicators, a window and a file. */
void late_to_what_is_made(void);

/** While MPI_Init_thread runs, a thread of the program starts another one, which lets
 *  all go on. */
void late_thread_of_the_start(void);

/** Rank 0 waits for any of a thousand operations with others, who wait for it. */
void any_of_very_many(void);

/** The same, but one of the last comes late. */
void late_one_of_very_many(void);

/** Rank 0 waits for all of a hundred thousand messages of rank 1, which sends a few and
 *  waits for it. */
void all_of_very_many(void);

/** All but the last rank wait for forty collectives; that one waits for rank 0. */
void one_is_not_in_many_collectives(void);

/** The same of a hundred, of which some wait for their turns. */
void one_is_not_in_collectives_by_turns(void);

/** All wait for each other, and have forty collectives under way that the last rank has
 *  not come to. */
void receives_beside_many_collectives(void);

/** The last rank comes late to many collectives. */
void late_to_many_collectives(void);

/** To be called before MPI_Init_thread, for that case. */
void begin_late_thread(void);

#endif
