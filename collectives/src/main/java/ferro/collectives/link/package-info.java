/**
 * The parts of a link over any medium that moves bytes. One part keeps posted ranges of elements in order as ranges of
 * bytes. Another part copies between tensors and the medium's memory without an allocation.
 *
 * <p>An author of a new medium starts at {@link ferro.collectives.link.StagedLink}, which is a complete link over any
 * medium that moves bytes in order. Module examples has such a medium, {@code ferro.examples.files}. {@code StagedLink}
 * copies every element once more. An author who wants to avoid this copy, as TCP and shared memory do, starts at
 * {@link ferro.collectives.link.PostRing}. The bytes of a link are only the elements and, in front of the first
 * elements of each call, its header ({@link ferro.collectives.link.WireHeader}).
 *
 * <p>No class of this package depends on a medium, waits, or is thread-safe, except {@code MessageStream#send}, which
 * any thread may call.
 */
package ferro.collectives.link;
