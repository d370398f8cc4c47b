package ferro.backend.tcp;

import ferro.FerroException.Code;
import ferro.backend.tcp.Secret.Role;
import java.nio.ByteBuffer;

/** The side that was connected to: hello in, challenge out, proof in, proof out; says its own proof last. */
final class AcceptingHandshake implements Handshake {
    private static final byte[] NOTHING = {};

    private final Credentials own;
    private final Door door;
    private final byte[] challenge;
    private State state = State.PREFIX;
    private byte[] transcript = NOTHING;
    private int wanted = Hello.PREFIX_BYTES;
    private Hello hello;
    private Hello said;

    /**
     * Starts.
     *
     * @param own  job and secret of this side
     * @param door asked once the other side has proved itself
     */
    AcceptingHandshake(Credentials own, Door door) {
        this.own = own;
        this.door = door;
        challenge = ByteBuffer.allocate(Hello.NONCE_BYTES + 1)
                .put(own.nonce())
                .put((byte) (own.secret().present() ? 1 : 0))
                .array();
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
        return state != State.PREFIX || Hello.begins(bytes, count);
    }

    /** Whether a hello of this job has come, so that this is no stranger. */
    boolean spoken() {
        return hello != null;
    }

    Hello hello() {
        return hello;
    }

    /** What the other side says that it is, of whatever job; null if no hello that makes sense has come. */
    Hello said() {
        return said;
    }

    @Override
    public byte[] take(ByteBuffer bytes) throws Refusal {
        return switch (state) {
            case PREFIX -> prefix(bytes);
            case HELLO -> hello(bytes);
            case PROOF -> proof(bytes);
            case DONE -> throw new Refusal(Code.PROTOCOL, bytes.remaining() + " bytes after the end of a handshake");
        };
    }

    private byte[] prefix(ByteBuffer bytes) throws Refusal {
        wanted = Hello.following(bytes);
        transcript = new byte[Hello.PREFIX_BYTES + wanted];
        bytes.get(transcript, 0, Hello.PREFIX_BYTES);
        state = State.HELLO;
        return NOTHING;
    }

    private byte[] hello(ByteBuffer bytes) throws Refusal {
        bytes.duplicate().get(transcript, Hello.PREFIX_BYTES, wanted);
        said = Hello.decoded(bytes);
        if (!said.job().equals(own.job())) {
            throw new Refusal(
                    Code.RENDEZVOUS,
                    "job \"" + own.job() + "\" is here, yours is \"" + Refusal.printable(said.job())
                            + "\": give every job a port or a FERRO_JOB_ID of its own");
        }
        Credentials.checkSecrets(own.secret().present(), said.options().secret());
        hello = said;
        wanted = HEAD_BYTES + Secret.PROOF_BYTES;
        state = State.PROOF;
        return Handshake.frame(CHALLENGE, challenge);
    }

    private byte[] proof(ByteBuffer bytes) throws Refusal {
        byte type = bytes.get();
        int length = Short.toUnsignedInt(bytes.getShort());
        if (type != PROOF || length != Secret.PROOF_BYTES) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a frame of type " + type + " with " + length + " bytes: need type " + PROOF + " with "
                            + Secret.PROOF_BYTES);
        }
        byte[] proof = new byte[length];
        bytes.get(proof);
        if (!own.secret().proves(Role.CONNECTING, transcript, challenge, proof)) {
            throw new Refusal(
                    Code.UNAUTHENTICATED,
                    "the proof is wrong: both sides need the same secret, see FERRO_SECRET_FILE (" + hello + ")");
        }
        door.admit(hello);
        wanted = 0;
        state = State.DONE;
        return Handshake.frame(PROOF, own.secret().proof(Role.ACCEPTING, transcript, challenge));
    }

    private enum State {
        PREFIX,
        HELLO,
        PROOF,
        DONE
    }

    /** Who decides about a side that has proved itself. */
    interface Door {
        /**
         * Lets it in, or not.
         *
         * @throws Refusal RENDEZVOUS if it does not belong here
         */
        void admit(Hello hello) throws Refusal;
    }
}
