{-# LANGUAGE BangPatterns #-}

-- control/haskell-mvar: the loop of fiber/haskell-mvar by one thread, which never waits: a put, a take and an addition.
module Mechanisms.ControlHaskellMvar (mechanism) where

import Control.Concurrent.MVar
import Data.IORef
import Kit.Plan
import Kit.Wire

boxing :: Int -> IO Workload
boxing _ = do
  box <- newEmptyMVar
  last' <- newIORef (0 :: Int)
  let go :: Int -> Int -> IO Int
      go 0 !token = pure token
      go left token = (putMVar box $! token + 1) >> takeMVar box >>= go (left - 1)
      batch units = readIORef last' >>= go units >>= writeIORef last'
      fields counts token = Just [("token", N token), ("counts", O counts)]
  pure (Workload 1 batch (writeIORef last' 0) (\counts -> fields counts <$> readIORef last') Nothing)

mechanism :: Mechanism
mechanism = ("control/haskell-mvar", [("switch", boxing)])
