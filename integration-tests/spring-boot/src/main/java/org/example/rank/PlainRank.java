package org.example.rank;

import ferro.ReduceOp;
import ferro.backend.tcp.TcpOutlook;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A rank without any library but ferro. */
public final class PlainRank {
    private PlainRank() {}

    public static void main(String[] arguments) throws IOException {
        System.out.println(joined());
    }

    /** Joins, multiplies, and says by what. */
    static String joined() throws IOException {
        long[] product;
        String links;
        try (ProcessGroup group = ProcessGroup.join()) {
            product = new long[] {group.rank() + 3, 10 * group.rank() + 7};
            group.allReduce(product, ReduceOp.PRODUCT);
            links = group.linkReport();
        }
        try (SystemContext context = SystemContext.ofProcess()) {
            TcpOutlook outlook = TcpOutlook.of(context);
            return "product " + product[0] + " " + product[1] + "; " + links + "; sockets " + outlook.sockets()
                    + "; encryption " + outlook.encryption() + "; natives " + natives();
        }
    }

    /** Returns the native libraries of Netty that this process has mapped, without the random ends of their names. */
    private static String natives() throws IOException {
        try (Stream<String> lines = Files.lines(LinuxFiles.HOST.path("self/maps"))) {
            return lines.filter(line -> line.contains("netty_"))
                    .map(line -> line.replaceFirst(".*/lib", "").replaceFirst("(x86_64|aarch_64).*", ""))
                    .distinct()
                    .sorted()
                    .collect(Collectors.joining(" "));
        }
    }
}
