package ferro.examples.jlama;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Sums as Deliverance makes them: a server collects the tensors of all ranks, adds them, and sends the sum to each rank.
 *
 * <p>Like Deliverance's {@code NettyTensorParallelCollectives}, a request is a frame with a JSON header (key, rank, size)
 * and the tensor; the server has a thread for each request, which waits for the other ranks. Other than there, floats are added
 * in arrays, which is faster than element by element in tensors.
 */
final class NettyStar {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long TIMEOUT_SECONDS = 60;

    private NettyStar() {}

    private static EventLoopGroup loops(int threads) {
        return new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory());
    }

    /** Cuts a stream into frames with a length in front, and gives each frame to a receiver. */
    private static final class Frames extends ChannelInboundHandlerAdapter {
        private final BiConsumer<Channel, byte[]> receiver;
        private ByteBuf received;

        Frames(BiConsumer<Channel, byte[]> receiver) {
            this.receiver = receiver;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf more = (ByteBuf) message;
            received = received == null ? context.alloc().buffer() : received;
            received.writeBytes(more);
            more.release();
            while (received.readableBytes() >= Integer.BYTES
                    && received.readableBytes() >= Integer.BYTES + received.getInt(received.readerIndex())) {
                byte[] frame = new byte[received.readInt()];
                received.readBytes(frame);
                received.discardReadBytes();
                receiver.accept(context.channel(), frame);
            }
        }

        static ChannelInitializer<SocketChannel> to(BiConsumer<Channel, byte[]> receiver) {
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new Frames(receiver));
                }
            };
        }

        static void write(Channel channel, ByteBuffer frame) {
            channel.writeAndFlush(channel.alloc()
                    .buffer(Integer.BYTES + frame.remaining())
                    .writeInt(frame.remaining())
                    .writeBytes(frame));
        }
    }

    static final class Server implements AutoCloseable {
        private final EventLoopGroup loops = loops(0);
        private final ExecutorService requests = Executors.newCachedThreadPool();
        private final Map<String, Round> rounds = new HashMap<>();
        private final Channel channel;

        private static final class Round {
            private float[] sum;
            private int arrived;
            private int answered;
        }

        Server() {
            channel = new ServerBootstrap()
                    .group(loops)
                    .channel(NioServerSocketChannel.class)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(Frames.to((from, frame) -> requests.execute(() -> answer(from, frame))))
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .syncUninterruptibly()
                    .channel();
        }

        int port() {
            return ((InetSocketAddress) channel.localAddress()).getPort();
        }

        private void answer(Channel from, byte[] frame) {
            try {
                ByteBuffer request = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
                byte[] header = new byte[request.getInt()];
                request.get(header);
                JsonNode call = JSON.readTree(header);
                float[] own = floats(request.slice().order(ByteOrder.LITTLE_ENDIAN));
                Frames.write(
                        from,
                        bytes(sum(call.get("key").asText(), call.get("size").asInt(), own)));
            } catch (IOException | InterruptedException failure) {
                from.close();
            }
        }

        private synchronized float[] sum(String key, int size, float[] own) throws InterruptedException {
            Round round = rounds.computeIfAbsent(key, first -> new Round());
            if (round.arrived++ == 0) {
                round.sum = own;
            } else {
                for (int i = 0; i < own.length; i++) {
                    round.sum[i] += own[i];
                }
            }
            notifyAll();
            while (round.arrived < size) {
                wait();
            }
            if (++round.answered == size) {
                rounds.remove(key);
            }
            return round.sum;
        }

        @Override
        public void close() {
            channel.close().syncUninterruptibly();
            requests.shutdownNow();
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    /** A rank, which is at one end of the star. One thread calls it. */
    static final class Client implements AutoCloseable {
        private final EventLoopGroup loop = loops(1);
        private final BlockingQueue<byte[]> responses = new LinkedBlockingQueue<>();
        private final int rank;
        private final int size;
        private final Channel channel;
        private long sequence;

        Client(int rank, int size, int port) {
            this.rank = rank;
            this.size = size;
            channel = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .handler(Frames.to((from, frame) -> responses.add(frame)))
                    .connect(InetAddress.getLoopbackAddress(), port)
                    .syncUninterruptibly()
                    .channel();
        }

        float[] sum(float[] own) {
            try {
                byte[] header =
                        JSON.writeValueAsBytes(Map.of("key", "layer:" + sequence++, "rank", rank, "size", size));
                ByteBuffer tensor = bytes(own);
                ByteBuffer request = ByteBuffer.allocate(Integer.BYTES + header.length + tensor.remaining())
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(header.length)
                        .put(header)
                        .put(tensor)
                        .flip();
                Frames.write(channel, request);
                byte[] response = responses.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                if (response == null) {
                    throw new IllegalStateException("no sum within " + TIMEOUT_SECONDS + " s");
                }
                return floats(ByteBuffer.wrap(response).order(ByteOrder.LITTLE_ENDIAN));
            } catch (IOException failure) {
                throw new UncheckedIOException("cannot write the header of a request", failure);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException("interrupted while a sum is awaited", interrupted);
            }
        }

        @Override
        public void close() {
            channel.close().syncUninterruptibly();
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    private static float[] floats(ByteBuffer bytes) {
        float[] floats = new float[bytes.remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(floats);
        return floats;
    }

    private static ByteBuffer bytes(float[] floats) {
        ByteBuffer bytes = ByteBuffer.allocate(floats.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(floats);
        return bytes;
    }
}
