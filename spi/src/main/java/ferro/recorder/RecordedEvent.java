package ferro.recorder;

import ferro.GroupEvent;

/**
 * An event of a group.
 *
 * @param at    time of the event
 * @param group group of the event
 * @param event the event
 */
record RecordedEvent(long at, GroupRecorder group, GroupEvent event) {}
