package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Secret.Role;
import java.nio.ByteBuffer;

/**
 * The accepting side of a handshake. The accepting side receives a hello, sends a challenge, receives a proof, sends a
 * proof, and receives a confirmation. The connecting side may connect again instead of sending a confirmation, and
 * confirms at most one of its attempts.
 */
final class AcceptingHandshake implements Handshake {
    private static final byte[] NOTHING = {};

    private final Credentials own;
    private final AdmissionPolicy door;
    private final boolean local;
    private byte[] challenge = NOTHING;
    private AcceptState state = AcceptState.PREFIX;
    private byte[] transcript = NOTHING;
    private int wanted = Hello.PREFIX_BYTES;
    private Hello hello;
    private Hello said;
    /** The TLS key whose hash the challenge contains; null if the connection is not encrypted. */
    private TlsIdentity key;

    private TlsSession tls;

    /**
     * Creates the accepting side of a handshake.
     *
     * @param own   job and secret of this side
     * @param door  admits or refuses the connecting side after its proof
     * @param local whether both ends are on this host, as far as this side can determine
     */
    AcceptingHandshake(Credentials own, AdmissionPolicy door, boolean local) {
        this.own = own;
        this.door = door;
        this.local = local;
    }

    /** Creates the handshake of a connection within this host. */
    AcceptingHandshake(Credentials own, AdmissionPolicy door) {
        this(own, door, true);
    }

    @Override
    public byte[] opening() {
        return NOTHING;
    }

    @Override
    public int wanted() {
        return wanted;
    }

    @Override
    public boolean plausible(byte[] bytes, int count) {
        return state != AcceptState.PREFIX || Hello.begins(bytes, count);
    }

    @Override
    public boolean awaitsConfirmation() {
        return state == AcceptState.CONFIRMATION;
    }

    @Override
    public TlsSession tls() {
        return tls;
    }

    /** Returns whether a hello with the id of this job has arrived from the peer. */
    boolean spoken() {
        return hello != null;
    }

    Hello hello() {
        return hello;
    }

    /** Returns the hello of the peer, even of another job; null if no valid hello has arrived. */
    Hello said() {
        return said;
    }

    @Override
    public byte[] take(ByteBuffer bytes) throws Refusal {
        return switch (state) {
            case PREFIX -> prefix(bytes);
            case HELLO -> hello(bytes);
            case PROOF -> proof(bytes);
            case CONFIRMATION -> confirmation(bytes);
            case DONE -> throw new Refusal(Code.PROTOCOL, bytes.remaining() + " bytes after the end of a handshake");
        };
    }

    private byte[] prefix(ByteBuffer bytes) throws Refusal {
        wanted = Hello.following(bytes);
        transcript = new byte[Hello.PREFIX_BYTES + wanted];
        bytes.get(transcript, 0, Hello.PREFIX_BYTES);
        state = AcceptState.HELLO;
        return NOTHING;
    }

    private byte[] hello(ByteBuffer bytes) throws Refusal {
        bytes.duplicate().get(transcript, Hello.PREFIX_BYTES, wanted);
        said = Hello.decoded(bytes);
        if (!said.job().equals(own.job())) {
            throw new Refusal(Code.RENDEZVOUS, otherJob(own.job(), said.job()));
        }
        Credentials.checkSecrets(own.secret().present(), said.options().secret());
        boolean encrypts = TlsChallenge.wanted(own.tls(), said, local);
        hello = said;
        wanted = HEAD_BYTES + Secret.PROOF_BYTES;
        state = AcceptState.PROOF;
        key = encrypts ? own.tls().identity() : null;
        byte[] pin = encrypts ? key.fingerprint() : new byte[TlsIdentity.FINGERPRINT_BYTES];
        challenge = new TlsChallenge(own.nonce(), own.secret().present(), encrypts, pin).encoded();
        return Handshake.frame(CHALLENGE, challenge);
    }

    /** Returns the reason for refusing a process of another job, or of another generation of this job. */
    static String otherJob(String own, String other) {
        String text = "this is job \"" + own + "\", you belong to job \"" + Refusal.printable(other) + "\"";
        if (!base(own).equals(base(other))
                || base(own).equals(own)
                || base(other).equals(other)) {
            return text + ": give every job its own port or FERRO_JOB_ID";
        }
        return number(other) < number(own)
                ? text + ", an earlier generation, which is over: end your process"
                : text + ", a later generation: end the processes of the earlier one first";
    }

    /** Returns a job id without its generation number. */
    private static String base(String job) {
        return job.replaceFirst("[.][0-9]{1,9}$", "");
    }

    private static int number(String job) {
        return Integer.parseInt(job.substring(job.lastIndexOf('.') + 1));
    }

    private byte[] proof(ByteBuffer bytes) throws Refusal {
        checkHead(bytes, PROOF, Secret.PROOF_BYTES);
        byte[] proof = new byte[Secret.PROOF_BYTES];
        bytes.get(proof);
        if (!own.secret().proves(Role.CONNECTING, transcript, challenge, proof)) {
            throw new Refusal(
                    Code.UNAUTHENTICATED,
                    "the proof is wrong: both sides need the same secret, see FERRO_SECRET_FILE,"
                            + " or --secret-file of ferro run (" + hello + ")");
        }
        if (key != null) {
            if (hello.options().tls() != Hello.TlsPreference.TLS) {
                throw new Refusal(Code.PROTOCOL, "TLS is required here, but you continue without it (" + hello + ")");
            }
            tls = key.session(false, hello.options().key(), TlsPolicy.judges(hello.kind()));
        }
        door.admit(hello);
        boolean last = tls == null;
        wanted = last ? HEAD_BYTES : 0;
        state = last ? AcceptState.CONFIRMATION : AcceptState.DONE;
        return Handshake.frame(PROOF, own.secret().proof(Role.ACCEPTING, transcript, challenge));
    }

    private byte[] confirmation(ByteBuffer bytes) throws Refusal {
        checkHead(bytes, CONFIRM, 0);
        wanted = 0;
        state = AcceptState.DONE;
        return NOTHING;
    }

    private static void checkHead(ByteBuffer bytes, byte wantedType, int wantedLength) throws Refusal {
        byte type = bytes.get();
        int length = Short.toUnsignedInt(bytes.getShort());
        if (type != wantedType || length != wantedLength) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a frame of type " + type + " with " + length + " bytes: need type " + wantedType + " with "
                            + wantedLength);
        }
    }

    private enum AcceptState {
        PREFIX,
        HELLO,
        PROOF,
        CONFIRMATION,
        DONE
    }

    /** Admits or refuses a side whose proof was correct. */
    interface AdmissionPolicy {
        /**
         * Admits the peer, or refuses it.
         *
         * @throws Refusal RENDEZVOUS if the peer does not belong to the group
         */
        void admit(Hello hello) throws Refusal;
    }

    /**
     * The answer of the accepting side to a hello.
     *
     * @param nonce  32 fresh random bytes
     * @param secret whether the accepting side has a secret
     * @param tls    whether the connection will be encrypted
     * @param key    hash of the accepting side's TLS key; zeros without TLS
     */
    record TlsChallenge(byte[] nonce, boolean secret, boolean tls, byte[] key) {
        static final int BYTES = Hello.NONCE_BYTES + 1 + TlsIdentity.FINGERPRINT_BYTES;

        private static final int SECRET = 1;
        private static final int TLS = 2;

        byte[] encoded() {
            return ByteBuffer.allocate(BYTES)
                    .put(nonce)
                    .put((byte) ((secret ? SECRET : 0) | (tls ? TLS : 0)))
                    .put(key)
                    .array();
        }

        static TlsChallenge decoded(byte[] bytes) {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            byte[] nonce = new byte[Hello.NONCE_BYTES];
            in.get(nonce);
            byte bits = in.get();
            byte[] key = new byte[TlsIdentity.FINGERPRINT_BYTES];
            in.get(key);
            return new TlsChallenge(nonce, (bits & SECRET) != 0, (bits & TLS) != 0, key);
        }

        /**
         * Decides whether to encrypt a connection. A connection is not encrypted only if both sides accept this.
         *
         * @throws Refusal RENDEZVOUS if one side has no TLS and the other side requires TLS
         */
        static boolean wanted(TlsPolicy own, Hello hello, boolean local) throws Refusal {
            Hello.TlsPreference wish = hello.options().tls();
            if (wish == Hello.TlsPreference.TLS && own.use() == TlsPolicy.TlsMode.OFF) {
                throw differs("off", "on");
            }
            boolean follows = own.use() == TlsPolicy.TlsMode.FOLLOW && wish == Hello.TlsPreference.PLAIN;
            boolean encrypts = wish == Hello.TlsPreference.TLS || own.wants(hello.carriesNothing(), local) && !follows;
            if (encrypts && wish == Hello.TlsPreference.PLAIN) {
                throw differs("on", "off");
            }
            return encrypts;
        }

        /** Returns the refusal of a connection between a side with TLS and a side without TLS. */
        static Refusal differs(String accepting, String connecting) {
            return new Refusal(
                    Code.RENDEZVOUS,
                    "TLS is " + accepting + " at the accepting side of this connection and " + connecting
                            + " at the connecting side: give all ranks the same ferro.tls");
        }
    }
}
