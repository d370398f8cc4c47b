package ferro;

import java.util.List;
import java.util.Objects;

/**
 * The medium that carries the data of a group. It is the medium that the ranks found when the group was made, not the one
 * that settings ask for. It is the same on all ranks of the group; a group that is made from this group may have another.
 * Immutable.
 *
 * <pre>{@code
 * group.medium().text();           // TCP between hosts, shared memory inside
 * group.medium().addresses();      // [10.0.0.1, 10.0.0.1, 10.0.0.2, 10.0.0.2]
 * }</pre>
 *
 * @param text      for people, such as {@code shared memory}, {@code TCP (loopback)}, {@code TCP between hosts, shared memory
 *     inside}; empty if the back end does not know its medium, or has no peer to send to
 * @param addresses for each rank, the address or host name by which the other ranks reach it; empty if the medium has no
 *     addresses. Ranks of one host may have several
 * @param far       whether a round trip between hosts takes a millisecond or more, as found when the job was joined. If so,
 *     algorithms with fewer steps are used for longer operations too
 */
public record Medium(String text, List<String> addresses, boolean far) {
    /** Medium of a back end that does not know its medium. */
    public static final Medium UNKNOWN = new Medium("", List.of());

    /**
     * Keeps a copy of the addresses.
     *
     * @param text      for people
     * @param addresses by rank
     * @param far       whether round trips are long
     * @throws NullPointerException if an argument or an address is null
     */
    public Medium {
        Objects.requireNonNull(text, "text");
        addresses = List.copyOf(Objects.requireNonNull(addresses, "addresses"));
    }

    /**
     * Makes a medium whose round trips are short, or about which nothing else is known.
     *
     * @param text      for people
     * @param addresses by rank
     * @throws NullPointerException if an argument or an address is null
     */
    public Medium(String text, List<String> addresses) {
        this(text, addresses, false);
    }

    /**
     * Returns the same medium with another text.
     *
     * @param other for people
     * @return medium with the same addresses
     */
    public Medium with(String other) {
        return new Medium(Objects.requireNonNull(other, "other"), addresses, far);
    }

    /**
     * Returns whether the ranks have more than one address in total.
     *
     * @return false also if there are no addresses
     */
    public boolean hasSeveralAddresses() {
        return addresses.stream().distinct().count() > 1;
    }
}
