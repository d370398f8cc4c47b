package ferro.backend.nccl.device;

import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether the kernel has files for GPUs or their drivers. Without such files, ferro need not load JNA and search
 * for libraries, which takes a tenth of the start time of each rank.
 */
final class GpuFileFinder {
    /** Files of NVIDIA's drivers (for PCI, for boards and under Windows with WSL) and of AMD's driver. */
    private static final List<String> OF_DRIVERS = List.of(
            "dev/nvidiactl",
            "dev/nvidia0",
            "dev/nvmap",
            "dev/nvhost-ctrl",
            "dev/dxg",
            "dev/kfd",
            "proc/driver/nvidia",
            "sys/module/nvidia",
            "sys/module/amdgpu");

    /**
     * Folder of the PCI devices. A GPU is found even if no driver is loaded, because the first program that needs
     * NVIDIA's driver may load it.
     */
    private static final String DEVICES = "sys/bus/pci/devices";

    /** Vendor numbers of NVIDIA and of AMD (graphics) in the PCI ID database. */
    private static final List<String> VENDORS = List.of("0x10de", "0x1002");

    private GpuFileFinder() {}

    /**
     * Returns why no libraries need to be searched. Empty if this host may have a GPU, or if the settings name the back
     * end or its libraries.
     *
     * @param context settings
     * @param root    folder that contains dev, proc and sys
     */
    static Optional<String> noneBecause(RankContext context, Path root) {
        return isAskedFor(context) || !areMissing(root)
                ? Optional.empty()
                : Optional.of(
                        "no GPU here: the kernel shows no driver and no device of NVIDIA or AMD, so ferro searched for no"
                                + " library; to search anyway, name a library with -D" + Settings.NCCL_LIBRARY.name()
                                + " or -D" + Settings.CUDART_LIBRARY.name());
    }

    private static boolean isAskedFor(RankContext context) {
        return Settings.BACKEND.of(context).contains("nccl")
                || Settings.NCCL_LIBRARY.find(context).isPresent()
                || Settings.CUDART_LIBRARY.find(context).isPresent()
                || Settings.JNA_LIBRARY_PATH.find(context).isPresent();
    }

    /** Returns whether this host certainly has neither a driver nor a device. */
    static boolean areMissing(Path root) {
        for (String trace : OF_DRIVERS) {
            if (Files.exists(root.resolve(trace))) {
                return false;
            }
        }
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(root.resolve(DEVICES))) {
            for (Path device : devices) {
                if (mayBeGpu(device)) {
                    return false;
                }
            }
            return true;
        } catch (IOException | DirectoryIteratorException unknown) {
            // if the folder of devices cannot be read, there may be a GPU
            return false;
        }
    }

    private static boolean mayBeGpu(Path device) {
        try {
            return VENDORS.contains(Files.readString(device.resolve("vendor")).strip());
        } catch (IOException unknown) {
            return true;
        }
    }
}
