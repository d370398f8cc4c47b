/**
 * The front door: joining a group and calling its collectives.
 *
 * <p>Start at {@link ferro.group.ProcessGroup}; how a back end is chosen stands in {@code BackendSelection}, where settings
 * come from in {@link ferro.group.SystemContext}.
 *
 * <p>Nothing here keeps state of a group: queue and sequence numbers live in the back end.
 */
package ferro.group;
