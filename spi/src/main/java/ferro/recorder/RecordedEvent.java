package ferro.recorder;

import ferro.GroupEvent;

/**
 * Something that happened to a group.
 *
 * @param at    when
 * @param group whose
 * @param event what
 */
record RecordedEvent(long at, GroupRecorder group, GroupEvent event) {}
