package ferro.recorder;

import java.util.List;

/**
 * The stacks of the threads of a rank at one time.
 *
 * @param at     time at which the stacks were taken
 * @param reason why the stacks were taken, as text for people
 * @param stacks stacks
 */
record RecordedStacks(long at, String reason, List<ThreadStack> stacks) {}
