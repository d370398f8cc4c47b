package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.AcceptingHandshake.TlsChallenge;
import ferro.backend.tcp.net.Secret.Role;
import java.nio.ByteBuffer;

/** The connecting side of a handshake: sends a hello, receives a challenge, sends and receives a proof, confirms. */
final class ConnectingHandshake implements Handshake {
    private static final byte[] NOTHING = {};

    private final Credentials own;
    private final String job;
    private final byte[] hello;
    private final Hello.TlsPreference wish;
    private final TlsIdentity key;
    private final boolean judges;
    private byte[] challenge;
    private byte type;
    private TlsSession tls;
    private boolean askedForTls;
    private boolean head = true;
    private int wanted = HEAD_BYTES;

    /**
     * Creates the connecting side of a handshake.
     *
     * @param own   job and secret of this side
     * @param plain hello of this side, without a key
     * @param key   TLS key of this side; null if this side does not ask for TLS
     */
    ConnectingHandshake(Credentials own, Hello plain, TlsIdentity key) {
        Hello said = key == null ? plain : plain.encrypted(key.fingerprint());
        this.own = own;
        this.key = key;
        this.judges = TlsPolicy.judges(said.kind());
        this.job = said.job();
        this.wish = said.options().tls();
        this.hello = said.encoded();
    }

    /** Creates the handshake of a side that does not ask for TLS. */
    ConnectingHandshake(Credentials own, Hello hello) {
        this(own, hello, null);
    }

    @Override
    public byte[] opening() {
        return hello;
    }

    @Override
    public int wanted() {
        return wanted;
    }

    @Override
    public boolean plausible(byte[] bytes, int count) {
        return true;
    }

    @Override
    public byte[] take(ByteBuffer bytes) throws Refusal {
        if (head) {
            head(bytes);
            return NOTHING;
        }
        head = true;
        return switch (type) {
            case REFUSAL -> throw Refusal.decoded(bytes);
            case CHALLENGE -> challenged(bytes);
            default -> proved(bytes);
        };
    }

    private void head(ByteBuffer bytes) throws Refusal {
        type = bytes.get();
        int length = Short.toUnsignedInt(bytes.getShort());
        boolean right = switch (type) {
            case REFUSAL -> length >= 1 && length <= Hello.MOST_BYTES - HEAD_BYTES;
            case CHALLENGE -> challenge == null && length == TlsChallenge.BYTES;
            case PROOF -> challenge != null && length == Secret.PROOF_BYTES;
            default -> false;
        };
        if (!right) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "the answer is a frame of type " + type + " with " + length
                            + " bytes: something other than ferro listens there, or another version of ferro");
        }
        wanted = length;
        head = false;
    }

    private byte[] challenged(ByteBuffer bytes) throws Refusal {
        challenge = new byte[bytes.remaining()];
        bytes.get(challenge);
        TlsChallenge said = TlsChallenge.decoded(challenge);
        Credentials.checkSecrets(said.secret(), own.secret().present());
        checkTls(said);
        if (said.tls()) {
            tls = key.session(true, said.key(), judges);
        }
        wanted = HEAD_BYTES;
        return Handshake.frame(PROOF, own.secret().proof(Role.CONNECTING, hello, challenge));
    }

    /**
     * Checks that both sides agree on TLS. The proofs cover what each side has sent about TLS, so no third party can
     * change it.
     */
    private void checkTls(TlsChallenge said) throws Refusal {
        if (said.tls() == (wish == Hello.TlsPreference.TLS)) {
            return;
        }
        askedForTls = said.tls() && wish == Hello.TlsPreference.EITHER;
        throw said.tls()
                ? TlsChallenge.differs("on", "off")
                : new Refusal(Code.PROTOCOL, "the accepting side continues without TLS, but TLS is required here");
    }

    /** Returns whether the accepting side requires TLS, so that it may accept a later hello that offers TLS. */
    boolean askedForTls() {
        return askedForTls;
    }

    @Override
    public boolean awaitsConfirmation() {
        return false;
    }

    @Override
    public TlsSession tls() {
        return tls;
    }

    private byte[] proved(ByteBuffer bytes) throws Refusal {
        byte[] proof = new byte[bytes.remaining()];
        bytes.get(proof);
        if (!own.secret().proves(Role.ACCEPTING, hello, challenge, proof)) {
            throw new Refusal(
                    Code.UNAUTHENTICATED,
                    "the proof of the accepting side of job \"" + job
                            + "\" is wrong: both sides need the same secret, see FERRO_SECRET_FILE, or --secret-file of"
                            + " ferro run");
        }
        wanted = 0;
        return tls == null ? Handshake.frame(CONFIRM, NOTHING) : NOTHING;
    }
}
