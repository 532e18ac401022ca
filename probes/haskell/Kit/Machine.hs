-- What a probe needs of the machine, by machine.c.
module Kit.Machine (now, cpu, rulers, observe, between, check, hello) where

import Control.Monad (replicateM, replicateM_, when)
import Data.Version (showVersion)
import Foreign (Int32, Ptr, allocaArray, peekArray)
import GHC.Stats (gcs, getRTSStats)
import Kit.Wire
import System.Info (fullCompilerVersion)

foreign import ccall unsafe "machine_now" now :: IO Int
foreign import ccall unsafe "machine_cpu" cpu :: IO Int
foreign import ccall unsafe "machine_usage" readUsage :: Ptr Int -> IO ()
foreign import ccall unsafe "machine_rulers" readRulers :: Ptr Int -> IO ()
foreign import ccall unsafe "getpid" pid :: IO Int32

-- Chain and width.
rulers :: IO [Int]
rulers = allocaArray 2 (\numbers -> readRulers numbers >> peekArray 2 numbers)

-- Everything that evidence takes from outside the contexts.
observe :: IO [Int]
observe = (:) . fromIntegral . gcs <$> getRTSStats <*> allocaArray 5 (\counts -> readUsage counts >> peekArray 5 counts)

-- Counts and fields of the evidence message that are differences of two observations.
between :: [Int] -> [Int] -> ([(String, Value)], [(String, Value)])
between first end = ([("cpu_time_ns", N cpuTime)], fields)
 where
  fields = [("gc_cycles", N collections), ("kernel", kernel), ("page_faults", faults)]
  (collections, switches, others) = (head changes, take 2 (drop 1 changes), drop 3 changes)
  (changes, cpuTime) = (zipWith (-) end first, last changes)
  kernel = O (zip ["voluntary", "involuntary"] (map N switches) ++ [("tasks", N 1), ("source", T "getrusage_self")])
  faults = O (zip ["minor", "major"] (map N others))

-- Stops a plan for which there is no room.
check :: Int -> IO ()
check bytes = do
  found <- map words . lines <$> readFile "/proc/meminfo"
  when (bytes > sum [1024 * read size | ["MemAvailable:", size, _] <- found]) $ limit "there is not so much memory"

-- Mean of the quickest of some short rows of readings, rounded up.
readCost :: IO Int
readCost = (\rows -> minimum rows `div` 100 + 1) <$> replicateM 20 row
 where
  row = do
    begin <- now
    replicateM_ 99 now
    subtract begin <$> now

hello :: String -> String -> IO [(String, Value)]
hello probe version = do
  cost <- readCost
  number <- pid
  let clock = O [("name", T "CLOCK_MONOTONIC"), ("ticks_per_second", N 1000000000), ("read_cost_ticks", N cost)]
      ghc = "GHC " ++ showVersion fullCompilerVersion
      runtime = T (ghc ++ ", not threaded")
  pure $ [("protocol", N 1), ("probe", T probe), ("version", T version), ("runtime", runtime), ("compiler", T ghc)]
    ++ [("flags", T "-O2"), ("pid", N (fromIntegral number)), ("clock", clock), ("counter", Null)]
