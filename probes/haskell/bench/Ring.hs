{-# LANGUAGE BangPatterns #-}

-- Two threads, each waiting for its MVar: `ring CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside. Each compares the
-- token with the number it is due: that is part of what fiber/haskell-mvar says a unit is.
module Main (main) where

import Control.Concurrent
import Control.Monad (foldM_)
import GHC.Clock (getMonotonicTimeNSec)
import System.Environment (getArgs)

-- Their number is an argument, as it is in the ring.
turns :: MVar Int -> MVar Int -> Int -> Int -> Int -> Int -> IO (Int, Int)
turns _ _ _ 0 due token = pure (due, token)
turns mine following !count left due token
  | token == due = do
      putMVar following $! token + 1
      takeMVar mine >>= turns mine following count (left - 1) (due + count)
  | otherwise = error "a wrong token"

main :: IO ()
main = do
  [_, switches, batches] <- map read <$> getArgs
  let count = length [batches, switches]
  here <- newEmptyMVar
  there <- newEmptyMVar
  _ <- forkIO (takeMVar there >>= turns there here count (-1) 1 >> pure ())
  let batch (due, token) _ = do
        begin <- getMonotonicTimeNSec
        after <- turns here there count (switches `div` 2) due token
        end <- getMonotonicTimeNSec
        print (fromIntegral (end - begin) / fromIntegral switches :: Double)
        pure after
  foldM_ batch (0, 0) [1 .. batches]
