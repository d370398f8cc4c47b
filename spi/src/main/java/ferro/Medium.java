package ferro;

import java.util.List;
import java.util.Objects;

/**
 * What carries the data of a group: what its ranks found when the group was made, not what settings ask for. Equal on all
 * ranks of the group; a group made of it may have another. Immutable.
 *
 * <pre>{@code
 * group.medium().text();           // TCP between hosts, shared memory inside
 * group.medium().addresses();      // [10.0.0.1, 10.0.0.1, 10.0.0.2, 10.0.0.2]
 * }</pre>
 *
 * @param text      for people, such as {@code shared memory}, {@code TCP (loopback)}, {@code TCP between hosts, shared memory
 *     inside}; empty where the back end does not say, or has nobody to send anything to
 * @param addresses by rank, the address or host name by which the others reach it; empty where the medium has none. Ranks of
 *     one host may have several
 * @param far       whether a round trip between hosts takes a millisecond or more, as found when the job was joined: then
 *     algorithms of fewer steps are taken for longer operations
 */
public record Medium(String text, List<String> addresses, boolean far) {
    /** Of a back end that does not say. */
    public static final Medium UNKNOWN = new Medium("", List.of());

    /**
     * Keeps a copy of the addresses.
     *
     * @param text      for people
     * @param addresses by rank
     * @param far       whether round trips are long
     * @throws NullPointerException if something is null
     */
    public Medium {
        Objects.requireNonNull(text, "text");
        addresses = List.copyOf(Objects.requireNonNull(addresses, "addresses"));
    }

    /**
     * Makes one whose ranks are near, or of which nothing else is known.
     *
     * @param text      for people
     * @param addresses by rank
     * @throws NullPointerException if something is null
     */
    public Medium(String text, List<String> addresses) {
        this(text, addresses, false);
    }

    /**
     * Returns the same under another text.
     *
     * @param other for people
     * @return medium with the same addresses
     */
    public Medium with(String other) {
        return new Medium(Objects.requireNonNull(other, "other"), addresses, far);
    }

    /**
     * Returns whether some ranks are reached by another address than others.
     *
     * @return false also where there are no addresses
     */
    public boolean hasSeveralAddresses() {
        return addresses.stream().distinct().count() > 1;
    }
}
