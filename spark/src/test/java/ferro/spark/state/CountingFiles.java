package ferro.spark.state;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.EnumSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.AbstractFileSystem;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FilterFs;
import org.apache.hadoop.fs.Options.ChecksumOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** A local Hadoop file system that records which files are forced to disk. Hadoop creates it by its class name. */
public final class CountingFiles extends FilterFs {
    static final Queue<String> FORCED = new ConcurrentLinkedQueue<>();

    public CountingFiles(URI uri, Configuration conf) throws URISyntaxException, IOException {
        super(AbstractFileSystem.get(uri, new Configuration()));
    }

    @Override
    public FSDataOutputStream createInternal(
            Path file,
            EnumSet<CreateFlag> flags,
            FsPermission permission,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress,
            ChecksumOpt checksum,
            boolean createParent)
            throws IOException {
        FSDataOutputStream out = super.createInternal(
                file, flags, permission, bufferSize, replication, blockSize, progress, checksum, createParent);
        return new FSDataOutputStream(out, null) {
            @Override
            public void hsync() throws IOException {
                FORCED.add(file.getName() + " of " + getPos() + " bytes");
                super.hsync();
            }
        };
    }
}
