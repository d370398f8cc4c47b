/**
 * A new medium as a third party would write it. Ranks of one host communicate over files that they all map into memory.
 * The engine builds collectives, messages, subgroups and agreement on failures on this medium.
 *
 * <p>Read {@link ferro.examples.files.FileTransport} first, then {@code RingEnd}, which moves bytes in a file. A test runs
 * the contract kit on this medium, and no operation is refused. The package may use only {@code ferro},
 * {@code ferro.spi} and {@code ferro.collectives}.
 */
package ferro.examples.files;
