package ferro.recorder;

import ferro.GroupEvent;

/**
 * An event of a group, with its time.
 *
 * @param at    time of the event
 * @param group group of the event
 * @param event event of the group
 */
record RecordedEvent(long at, GroupRecorder group, GroupEvent event) {}
