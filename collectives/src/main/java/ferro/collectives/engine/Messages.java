package ferro.collectives.engine;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.function.Consumer;

/** Byte buffers of the methods of {@link ferro.Backend} as tensors; position and limit of the buffers stay unchanged. */
final class Messages {
    private Messages() {}

    /** Returns the remaining bytes of a message as a tensor. */
    static HostTensor outgoing(ByteBuffer message) {
        if (Objects.requireNonNull(message, "message").isDirect() && !message.isReadOnly()) {
            return HostTensor.of(DataType.INT8, message.duplicate().order(ByteOrder.nativeOrder()));
        }
        if (message.hasArray()) {
            return inArray(message);
        }
        byte[] bytes = new byte[message.remaining()];
        message.duplicate().get(bytes);
        return HostTensor.of(bytes);
    }

    /** Runs a receive into the remaining bytes of a message. */
    static void receive(ByteBuffer message, Consumer<HostTensor> receive) {
        if (Objects.requireNonNull(message, "message").isReadOnly()) {
            throw new IllegalArgumentException("cannot receive into a read-only buffer, found " + message);
        }
        receive.accept(
                message.isDirect()
                        ? HostTensor.of(DataType.INT8, message.duplicate().order(ByteOrder.nativeOrder()))
                        : inArray(message));
    }

    private static HostTensor inArray(ByteBuffer message) {
        return HostTensor.of(
                DataType.INT8, message.array(), message.arrayOffset() + message.position(), message.remaining());
    }
}
