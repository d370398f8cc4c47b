package ferro.backend.tcp.mesh;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Refusal;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;

/** Decides whether an authenticated process belongs to a group, and gives the reason for a refusal. Thread-safe. */
final class AdmissionCheck {
    private final GroupSpec spec;
    private final boolean checksum;

    /**
     * Creates the admission check of one rank.
     *
     * @param spec     group, and the rank to which other processes connect
     * @param checksum whether data links of this rank use checksums
     */
    AdmissionCheck(GroupSpec spec, boolean checksum) {
        this.spec = spec;
        this.checksum = checksum;
    }

    /**
     * Compares what a process claims about itself in its hello with this group.
     *
     * @throws Refusal RENDEZVOUS if the claims differ from this group
     */
    void check(Hello hello) throws Refusal {
        Hello.RankPair member = hello.member();
        if (member.worldSize() != spec.worldSize()) {
            throw refusal(own() + " has world size " + spec.worldSize() + ", you have " + member.worldSize());
        }
        if (hello.options().checksum() != checksum) {
            throw refusal(own() + " has " + text(checksum) + ", you have "
                    + text(hello.options().checksum()));
        }
        if (member.to() != spec.rank()) {
            throw refusal("this is " + own() + ", but you want rank " + member.to()
                    + ": the address that you have for it is outdated");
        }
        // any rank may connect to check whether this rank is alive
        if (hello.kind() != Hello.ConnectionKind.ALIVE && (member.rank() < 0 || member.rank() >= spec.rank())) {
            throw refusal("you say that you are rank " + member.rank() + ", but only lower ranks connect to " + own());
        }
    }

    /** Returns the refusal of a process whose rank is already connected. */
    Refusal taken(int peer) {
        return refusal("rank " + peer + " of \"" + spec.name() + "\" is already connected to rank " + spec.rank()
                + ": two processes have this rank");
    }

    /**
     * Returns the refusal of a connection attempt that the peer has given up. A later attempt of the peer has already
     * arrived.
     */
    Refusal outdated(Hello hello) {
        return Refusal.late("attempt " + hello.attempt().number() + " of rank "
                + hello.member().rank() + " to connect to " + own() + " arrived after a later attempt");
    }

    private static Refusal refusal(String text) {
        return new Refusal(Code.RENDEZVOUS, text);
    }

    private String own() {
        return "rank " + spec.rank() + " of \"" + spec.name() + "\"";
    }

    private static String text(boolean on) {
        return Settings.TCP_CHECKSUM.name() + "=" + (on ? 1 : 0);
    }
}
