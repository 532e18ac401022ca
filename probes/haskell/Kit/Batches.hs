{-# LANGUAGE BangPatterns #-}

-- Experiments whose units are done in batches.
module Kit.Batches (carryOut) where

import Control.Monad (when)
import Data.List (nub, sort)
import Kit.Machine
import Kit.Plan
import Kit.Wire
import System.Mem (performMajorGC)

batch :: Workload -> Int -> IO Int
batch work units = do
  begin <- now
  run work units
  end <- now
  pure $! end - begin

wholeLaps :: Workload -> Int -> Int
wholeLaps work units = (units + lap work - 1) `div` lap work * lap work

-- Doubles by the rule of PROTOCOL.md, section 1, which has the largest k as well.
calibrate :: Workload -> Int -> IO Int
calibrate work ns = go (0 :: Int) (lap work)
 where
  go 3 units = pure units
  go longEnough units = do
    when (units > 10 ^ (12 :: Int)) $ limit "no batch lasts as long as batch_ns"
    ticks <- batch work units
    if ticks >= ns then go (longEnough + 1) units else go 0 (2 * units)

-- Adds so many batches to those that there are, the last one first: ticks, CPU, chain and width.
measure :: Workload -> Int -> Int -> [[Int]] -> IO [[Int]]
measure _ _ 0 done = pure done
measure work units left done = do
  !ticks <- batch work units
  !place <- cpu
  both <- rulers
  measure work units (left - 1) ((ticks : place : both) : done)

carryOut :: Descriptor -> Asked -> IO Int
carryOut descriptor asked = do
  work <- workload asked (contexts asked)
  performMajorGC
  units <- if batchUnits asked > 0 then pure (wholeLaps work (batchUnits asked)) else calibrate work (batchNs asked)
  let count = warmup asked + batches asked
  put descriptor "plan" (("batch_units", N units) : echo asked)
  reset work
  first <- observe
  before <- rulers
  measured <- reverse <$> measure work units count []
  (counts, fields) <- between first <$> observe
  counted <- claim work counts >>= maybe (stop "failed" "self_check_failed" "a context got a wrong token") pure
  -- What stands beside a batch is the slower of the readings before and after it.
  let readings = map (drop 2) measured
      beside = zipWith (zipWith max) (before : readings) readings
      (unmeasured, rest) = splitAt (warmup asked) (zipWith (\numbers both -> head numbers : both) measured beside)
  putSamples descriptor "warmup" units 0 unmeasured
  putSamples descriptor "measure" units ((warmup asked + 999) `div` 1000) rest
  hops <- if verifyUnits asked > 0 then traverse ($ wholeLaps work (verifyUnits asked)) (verify work) else pure Nothing
  let places = L . map N . sort . nub $ map (!! 1) measured
  put descriptor "evidence" $
    [("units", N (count * units)), ("cpus", places)] ++ fields ++ counted ++ concat hops
  pure count
