package ferro.recorder;

import java.util.List;

/**
 * Something that happened to a group.
 *
 * @param at    when
 * @param group whose
 * @param kind  such as SUSPECTED
 * @param ranks ranks of the group that it is about
 * @param text  for people
 */
record RecordedEvent(long at, GroupRecorder group, String kind, List<Integer> ranks, String text) {}
